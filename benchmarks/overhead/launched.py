"""What recording costs a whole process: python -m benchmarks.overhead.launched [mlp cnn gpt] [--blocks N] [--seconds S]

One process a way of recording and a plain one, all alive at once, take turns in making blocks of steps;
CPU time of each process over that of the plain one in the same round, median over the rounds. `plain
again` is a second plain process: what is noise. Unlike benchmarks.overhead.capture this counts the
launcher's hooks, the memory that measuring drives out of the caches, and all else.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

LOOP = Path(__file__).with_name("loop.py")
RUN = [str(Path(sys.executable).with_name("traindx")), "run", "--quiet"]
PATIENCE = 120.0  # seconds for a process to start, or to make a block of steps
WAYS: dict[str, tuple[list[str], list[str]]] = {  # what stands before the script's command, and after it
    "plain": ([], []),
    "plain again": ([], []),
    "watch": ([], ["watch"]),
    "watch, every step": ([], ["watch", "1"]),
    "traindx run": ([*RUN, "--out", "{out}", "--"], []),
    "traindx run, every step": ([*RUN, "--every", "1", "--out", "{out}", "--"], []),
}
WARM_SECONDS = 2.0  # of steps before anything is counted: what is found out at the start is


class Runner:
    """A process that makes steps when told."""

    def __init__(self, case: str, way: str, folder: Path) -> None:
        before, after = WAYS[way]
        plain = way.replace(" ", "-").replace(",", "")
        command = [part.format(out=folder / plain) for part in before]
        command += [sys.executable, str(LOOP), case, str(folder / f"{plain}.socket"), *after]
        with socket.socket(socket.AF_UNIX) as listener:
            listener.settimeout(PATIENCE)
            listener.bind(str(folder / f"{plain}.socket"))
            listener.listen()
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            self.process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, cwd=folder)
            connection, _ = listener.accept()
        connection.settimeout(PATIENCE)
        self._told = connection.makefile("rw")
        connection.close()

    def steps(self, count: int) -> float:
        """CPU seconds of each of `count` steps."""
        self._told.write(f"{count}\n")
        self._told.flush()
        return float(self._told.readline())

    def close(self) -> None:
        self._told.close()
        self.process.wait()


def measured(case: str, ways: list[str], blocks: int, seconds: float) -> dict[str, list[float]]:
    """CPU seconds of a step by way, one value a round."""
    found: dict[str, list[float]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        runners = {way: Runner(case, way, Path(folder)) for way in ways}
        for runner in runners.values():
            stack.callback(runner.close)
        step = min(runner.steps(5) for runner in runners.values())
        for runner in runners.values():
            runner.steps(max(5, int(WARM_SECONDS / step)))
        for _ in range(blocks):
            for way, runner in runners.items():
                found[way].append(runner.steps(max(2, int(seconds / step))))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["mlp", "cnn", "gpt"])
    parser.add_argument("--blocks", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.6, help="of a block")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=list(WAYS))
    chosen = parser.parse_args()
    for case in chosen.cases:
        found = measured(case, ["plain", *(w for w in chosen.ways if w != "plain")], chosen.blocks, chosen.seconds)
        plain = found.pop("plain")
        print(f"{case}: {statistics.median(plain) * 1e3:.2f} ms CPU a step", flush=True)
        for way, values in found.items():
            shares = sorted(value / base - 1 for value, base in zip(values, plain, strict=True))
            low, middle, high = (shares[int(q * (len(shares) - 1))] for q in (0.25, 0.5, 0.75))
            print(f"  {way:26}{middle:8.1%}   middle half {low:.1%} to {high:.1%}", flush=True)


if __name__ == "__main__":
    main()
