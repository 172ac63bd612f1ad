"""What following costs, and how soon an event is printed: `python -m benchmarks.overhead.watching [--runs 1 50 200]`

For each number of runs, logs of `--rows` rows are written (CSV tables; texts with `--text`), `traindx watch --json`
follows their folder in a process of its own, and every log grows by one row a second. CPU time and memory are those of
that process, over `--seconds`.
Then single logs get a NaN, and the time from the write to the printed event is taken. `tail -F` follows the same files
at the same time. A run is started anew for each latency of the first column, because a finding is reported once.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import psutil

SETTLED = 15.0  # seconds until all logs were read and judged once, at least
LATE = 30.0  # seconds after which an event counts as missing


class Cost(NamedTuple):
    """Of one number of runs. `cpu` and `tail` in shares of a core, `memory` in MB, `latencies` in seconds."""

    runs: int
    cpu: float
    memory: float
    tail: float
    latencies: list[float]


def row(step: int, loss: str | None = None) -> str:
    value = 0.2 + 2 * math.exp(-step / 300) + 0.02 * math.sin(step * 12.9898)
    return f"{step},{loss or f'{value:.5f}'},0.001\n"


def line(step: int, loss: str | None = None) -> str:
    step_of, value, rate = row(step, loss).rstrip().split(",")
    return f"2026-11-25 12:00:00,123 INFO step {step_of} | loss {value} | lr {rate}\n"


class Log:
    """One growing log: a CSV table or, for a path that ends with .log, a text. `rows` are there from the start."""

    def __init__(self, path: Path, rows: int) -> None:
        self.path, self.step = path, rows
        self.row = line if path.suffix == ".log" else row
        path.parent.mkdir(parents=True)
        with path.open("w", encoding="utf-8") as out:
            out.write("step,loss,lr\n" if self.row is row else "")
            out.writelines(map(self.row, range(rows)))

    def append(self, loss: str | None = None) -> None:
        with self.path.open("a", encoding="utf-8") as out:
            out.write(self.row(self.step, loss))
        self.step += 1


class Followed:
    """A process that follows logs; `lines` gets each line that it prints, with the time."""

    def __init__(self, *command: str) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self.lines: queue.SimpleQueue[tuple[float, bytes]] = queue.SimpleQueue()
        assert self.process.stdout is not None
        threading.Thread(target=self.pump, args=(self.process.stdout,), daemon=True).start()

    def pump(self, stream: IO[bytes]) -> None:
        for line in stream:
            self.lines.put((time.monotonic(), line))

    def cpu(self) -> float:
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system

    def memory(self) -> float:
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    def until(self, wanted: str) -> float | None:
        """When a line came that is about a finding of the log `wanted`."""
        end = time.monotonic() + LATE
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                at, line = self.lines.get(timeout=left)
                event = json.loads(line)
                if event["kind"] == "finding" and wanted in event["source"]:
                    return at
        return None

    def __enter__(self) -> Followed:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def watching(folder: Path) -> Followed:
    return Followed(sys.executable, "-m", "traindx", "watch", str(folder), "--json")


def grow(logs: list[Log], seconds: float) -> None:
    """One row a second to each log, spread over the second."""
    began = time.monotonic()
    for n in range(int(seconds) * len(logs)):
        wait = began + n / len(logs) - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        logs[n % len(logs)].append()


def delay(followed: Followed, log: Log) -> float:
    """Seconds from a NaN in a log to the printed event; infinite where none came."""
    began = time.monotonic()
    log.append("nan")
    at = followed.until(log.path.parent.name)
    return math.inf if at is None else at - began


def measure(runs: int, options: argparse.Namespace, folder: Path) -> Cost:
    logs = [Log(folder / f"run{n:03}" / name_of(options), options.rows) for n in range(runs)]
    with watching(folder) as ours, Followed("tail", "-q", "-F", *(str(log.path) for log in logs)) as tail:
        grow(logs, SETTLED)
        before, before_tail, began = ours.cpu(), tail.cpu(), time.monotonic()
        grow(logs, options.seconds)
        passed = time.monotonic() - began
        cpu, cpu_tail, memory = ours.cpu() - before, tail.cpu() - before_tail, ours.memory()
        latencies = [delay(ours, log) for log in logs[: options.times]]
    return Cost(runs, cpu / passed, memory, cpu_tail / passed, latencies)


def name_of(options: argparse.Namespace) -> str:
    return "train.log" if options.text else "log.csv"


def anew(times: int, options: argparse.Namespace, folder: Path) -> Iterator[float]:
    """Latencies of a single run, each with a process of its own."""
    for n in range(times):
        log = Log(folder / f"again{n}" / "one" / name_of(options), options.rows)
        with watching(folder / f"again{n}") as followed:
            grow([log], 4 + options.rows / 100_000)
            yield delay(followed, log)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overhead.watching", description=__doc__)
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 50, 200])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--times", type=int, default=20, help="latencies for each number of runs")
    parser.add_argument("--rows", type=int, default=500, help="that a log holds when it is followed")
    parser.add_argument("--text", action="store_true", help="lines of a text instead of a CSV table")
    options = parser.parse_args()
    print(
        "| runs | CPU, share of a core | memory, MB | tail -F | event after, median | 95 % |\n|---|---|---|---|---|---|"
    )
    for runs in options.runs:
        with tempfile.TemporaryDirectory() as place:
            os.environ["XDG_STATE_HOME"] = place
            cost = measure(runs, options, Path(place) / "runs")
            latencies = cost.latencies
            if runs < options.times:
                latencies = [*latencies, *anew(options.times - runs, options, Path(place))]
        middle, late = np.percentile(latencies, (50, 95), method="higher")
        print(
            f"| {runs} | {cost.cpu:.1%} | {cost.memory:.0f} | {cost.tail:.1%} | {middle:.2f} s | {late:.2f} s |",
            flush=True,
        )


if __name__ == "__main__":
    main()
