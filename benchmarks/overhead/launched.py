"""What recording costs a whole process: python -m benchmarks.overhead.launched [mlp cnn gpt] [--starts N] [--blocks N]

One process a way of recording and two plain ones, all alive at once, take turns in making blocks of steps; CPU
time of each over that of the plain ones in the same round. Unlike benchmarks.overhead.capture this counts the
launcher's hooks, what measuring drives out of the caches, and all else. Two processes that do the same differ by
several percent, by how their memory happens to lie: `plain` shows it, and all are started anew several times.
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
RUN = [sys.executable, "-m", "traindx", "run", "--quiet"]
PATIENCE = 120.0  # seconds for a process to start, or to make a block of steps
WAYS: dict[str, tuple[list[str], list[str]]] = {  # what stands before the script's command, and after it
    "plain": ([], []),
    "plain, again": ([], []),
    "watch": ([], ["watch"]),
    "watch, every step": ([], ["watch", "1"]),
    "traindx run": ([*RUN, "--out", "{out}", "--"], []),
    "traindx run, judged": ([*RUN, "--live", "--stop-on", "critical", "--out", "{out}", "--"], []),
    "traindx run, every step": ([*RUN, "--every", "1", "--out", "{out}", "--"], []),
}
WARM_SECONDS = 5.0  # of steps before anything is counted: any run may measure for 0.2 s as it begins, that


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
        for turn in range(blocks):
            for i in range(len(ways)):
                way = ways[(turn + i) % len(ways)]
                found[way].append(runners[way].steps(max(2, int(seconds / step))))
    return found


def shares(found: dict[str, list[float]]) -> dict[str, float]:
    """Of each way over the two plain processes: the median over the rounds of what it takes more."""
    plain = [(a + b) / 2 for a, b in zip(found["plain"], found["plain, again"], strict=True)]
    return {
        way: statistics.median(v / base - 1 for v, base in zip(values, plain, strict=True))
        for way, values in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", default=["mlp", "cnn", "gpt"])
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=9, help="of each start")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a block")
    chosen = parser.parse_args()
    for case in chosen.cases:
        told: dict[str, list[float]] = {way: [] for way in WAYS}
        steps: list[float] = []
        for _ in range(chosen.starts):
            found = measured(case, list(WAYS), chosen.blocks, chosen.seconds)
            steps += found["plain"]
            for way, share in shares(found).items():
                told[way].append(share)
        print(f"{case}: {statistics.median(steps) * 1e3:.2f} ms CPU a step", flush=True)
        for way, several in told.items():
            each = " ".join(f"{share:+.1%}" for share in sorted(several))
            print(f"  {way:26}{statistics.median(several):+8.1%}   of starts {each}", flush=True)


if __name__ == "__main__":
    main()
