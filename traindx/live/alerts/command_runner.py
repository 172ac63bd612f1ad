"""A separate process that runs a command to its end, even if the watch that started it is killed meanwhile. It prints
the name of the message and how the command ended: the receipt. Started by its path, so it imports nothing of traindx."""

import os
import signal
import subprocess
import sys


def run(name: str, limit: str, *words: str) -> None:
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        status = str(process.wait(float(limit)))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with what it has started
        status = "late"
    print(name, status)


if __name__ == "__main__":
    run(*sys.argv[1:])
