"""The launcher acts as the script would: signals, stops, ends and leftovers are as without it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import LIMIT, default_signals, line, started

LAUNCH = """
import sys
from pathlib import Path
from traindx.capture.launch.command import Request, launch
from traindx.capture.launch.signals import end_by_signal
ended = launch(sys.argv[2:], Request(Path(sys.argv[1])))
sys.exit(end_by_signal(ended.status, ended.signal))
"""
NOT_SENT = {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD, signal.SIGTTIN, signal.SIGTTOU}
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
SENT = sorted(signal.valid_signals() - NOT_SENT - FAULTS)
COUNTS = """
import os, signal, sys, time
heard = []
def hear(number, frame):
    heard.append(number)
    os.write(1, b"%d\\n" % number)
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, hear)
print(os.getpid(), flush=True)
while len(heard) < int(sys.argv[1]):
    time.sleep(0.005)  # not `pause`, which would wait for the signal after one that has come just now
"""
DIES = "import signal, time; print('ready', flush=True)\nwhile True: time.sleep(1)"


def launcher(folder: Path, *command: str) -> list[str]:
    return [sys.executable, "-c", LAUNCH, str(folder / "run"), sys.executable, *command]


@pytest.mark.parametrize("everyone", [False, True])
def test_each_signal_reaches_the_script_once(tmp_path: Path, everyone: bool) -> None:
    """Sent to the launcher alone (SLURM before the time limit), or to its whole group (`timeout`)."""
    command = launcher(tmp_path, "-c", COUNTS, str(len(SENT)))
    with started(command, stdout=subprocess.PIPE) as process:
        line(process.stdout)
        for number in SENT:
            os.killpg(process.pid, number) if everyone else process.send_signal(number)
            assert line(process.stdout) == str(number)
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP, signal.SIGINT])
def test_the_script_dies_of_a_signal_as_ever(tmp_path: Path, number: int) -> None:
    ends = []
    for command in (launcher(tmp_path, "-c", DIES), [sys.executable, "-c", DIES]):
        with started(command, stdout=subprocess.PIPE) as process:
            line(process.stdout)
            process.send_signal(number)
            ends.append(process.wait(LIMIT))
    assert ends[0] == ends[1]


def test_what_the_script_ignored_before_it_ignores(tmp_path: Path) -> None:
    """As under `nohup`: dispositions and the mask are handed on as they came."""
    shown = "import signal; print([str(signal.getsignal(n)) for n in sorted(signal.valid_signals())])\n"
    shown += "print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, ())))"

    def ignoring() -> None:
        default_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGUSR2})

    outputs = [
        subprocess.run(command, preexec_fn=ignoring, capture_output=True, timeout=LIMIT).stdout
        for command in (launcher(tmp_path, "-c", shown), [sys.executable, "-c", shown])
    ]
    assert outputs[0] == outputs[1] != b""


SHELL = """
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
script = os.fork()
if script == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
_, status = os.waitpid(script, os.WUNTRACED)
if os.WIFSTOPPED(status):
    print("stopped by", os.WSTOPSIG(status), flush=True)
    os.killpg(script, signal.SIGCONT)
    _, status = os.waitpid(script, 0)
print("status", os.waitstatus_to_exitcode(status), flush=True)
"""
STOPS = """
import signal, sys, time
continued = []
signal.signal(signal.SIGCONT, lambda *_: continued.append(1))
print("ready", flush=True)
while not continued:
    time.sleep(0.01)
print("continued", len(continued), flush=True)
sys.exit(7)
"""


def test_ctrl_z_stops_both_and_fg_lets_both_go_on(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", SHELL, *launcher(tmp_path, "-c", STOPS)]
    shown = b""
    with started(command, terminal=True, stdin=theirs, stdout=theirs, stderr=theirs):
        os.close(theirs)
        typed = False
        while not re.search(rb"status -?\d+\r?\n", shown):
            shown += os.read(ours, 4096)
            if b"ready" in shown and not typed:
                typed = True
                os.write(ours, b"\x1a")
        os.close(ours)  # the terminal hangs up: what is left of the session is asked to end
    assert b"stopped by %d" % signal.SIGTSTP in shown
    assert b"continued 1" in shown
    assert b"status 7" in shown


def test_a_launcher_that_is_killed_takes_the_script_with_it(tmp_path: Path) -> None:
    """The pipe ends when nobody holds it any more; what was printed until then has arrived."""
    with started(launcher(tmp_path, "-c", DIES), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert line(process.stdout) == "ready"
        process.kill()
        out, err = process.communicate(timeout=LIMIT)
    assert out == b""
    assert err.decode().startswith("traindx: killed, and the script with it")
    assert str(tmp_path / "run") in err.decode()


DAEMON = """
import os, sys
print("script", flush=True)
if os.fork() == 0:
    os.setsid()
    open(sys.argv[1]).read()  # until the launcher has ended
    print("late", flush=True)
    os.execlp("sleep", "sleep", "0")
"""


def test_a_daemon_keeps_its_output(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ended")
    with started(
        launcher(tmp_path, "-c", DAEMON, str(tmp_path / "ended")), stdout=subprocess.PIPE
    ) as process:
        assert line(process.stdout) == "script"
        assert process.wait(LIMIT) == 0
        (tmp_path / "ended").write_text("")
        assert line(process.stdout) == "late"
        assert line(process.stdout) == ""
    assert (tmp_path / "run" / "stdout.log").read_text() == "script\n"


def test_a_daemon_that_prints_all_the_time_is_not_waited_for(tmp_path: Path) -> None:
    prints = "import os\nif os.fork() == 0:\n    while True: os.write(1, b'more\\n' * 1000)\n"
    with started(launcher(tmp_path, "-c", prints), stdout=subprocess.PIPE) as process:
        begun = time.monotonic()
        while process.poll() is None and time.monotonic() < begun + LIMIT:
            line(process.stdout)
        assert process.poll() == 0


TRAINS = """
import atexit, signal, sys
def shown(place):
    print(place, sys.excepthook, sys.excepthook is sys.__excepthook__)
    print([str(signal.getsignal(n)) for n in sorted(signal.valid_signals())])
def last_steps():
    for _ in range(3):
        step()
    print("first registered")
atexit.register(last_steps)
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 3)
def step():
    loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
atexit.register(print, "last registered")
shown("before")
for _ in range(5):
    step()
shown("after")
"""


def test_nothing_of_ours_is_found_in_the_script(tmp_path: Path) -> None:
    """Handlers of signals, errors and exit; and what exit handlers train is recorded."""
    pytest.importorskip("torch")
    outputs = [
        subprocess.run(command, capture_output=True, timeout=LIMIT, preexec_fn=default_signals)
        for command in (launcher(tmp_path, "-c", TRAINS), [sys.executable, "-c", TRAINS])
    ]
    assert outputs[0].stdout == outputs[1].stdout
    assert outputs[0].stdout.decode().splitlines()[-1] == "first registered"
    from traindx import pipeline

    (run,) = pipeline.read_capture(tmp_path / "run")
    assert run.last_step == 8
    assert run.complete


STUCK = TRAINS + "print('stuck', flush=True)\nsum(range(10**14))\n"


def test_what_is_stuck_in_native_code_dies_at_once(tmp_path: Path) -> None:
    """Python runs no handler while C is at work."""
    pytest.importorskip("torch")
    with started(launcher(tmp_path, "-c", STUCK), stdout=subprocess.PIPE) as process:
        while line(process.stdout) != "stuck":
            assert process.poll() is None
        launch = json.loads((tmp_path / "run" / ".launch").read_text().splitlines()[0])
        process.terminate()
        assert process.wait(20) == -signal.SIGTERM
        assert not os.path.exists(f"/proc/{launch['pid']}")
