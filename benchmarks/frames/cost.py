"""What recording costs beside the plain loop, in CPU time, for steps that take over ten milliseconds:

    python -m benchmarks.frames.cost torch|lightning|hf|keras|nnx|equinox [PAIRS]      # KERAS_BACKEND tells which Keras

One net with two layers of 1,024 units, in batches of 256, is trained in processes of its own, plain and recorded as
`traindx run` records it, in turns. The CPU time is that of `train` alone: a long training less a short one, so that
neither imports nor compilation count.
"""

from __future__ import annotations

import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.frames.cells import PLAIN

EPOCHS = (20, 60)  # of four steps each


def once(framework: str, epochs: int, folder: str) -> float:
    """CPU seconds of one training in this process; recorded where a folder is given."""
    from benchmarks.frames.__main__ import attached

    cell = replace(PLAIN, hidden=(1024, 1024), batch=256, epochs=epochs)
    program = importlib.import_module(f"benchmarks.frames.{framework}_net")
    process = attached(framework, Path(folder)) if folder else None
    began = time.process_time()
    program.train(cell)
    spent = time.process_time() - began
    if process is not None:
        process.end()
    return spent


def started(framework: str, epochs: int, recorded: bool) -> float:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "run") if recorded else ""
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmarks.frames.cost",
            "once",
            framework,
            str(epochs),
            out,
        ]
        told = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(told.stdout.split()[-1])


def compare(framework: str, pairs: int) -> None:
    """Print the median of each, and their ratio."""
    found: dict[bool, list[float]] = {False: [], True: []}
    steps = 4 * (EPOCHS[1] - EPOCHS[0])
    for _ in range(pairs):
        for recorded in (False, True):
            short, long = (started(framework, epochs, recorded) for epochs in EPOCHS)
            found[recorded].append((long - short) / steps)
        ratio = statistics.median(found[True]) / statistics.median(found[False])
        plain, with_it = (1e3 * statistics.median(found[r]) for r in (False, True))
        print(
            f"{framework}: plain {plain:.1f} ms, recorded {with_it:.1f} ms a step, {ratio:.3f}x", flush=True
        )


if __name__ == "__main__":
    if sys.argv[1] == "once":
        print(once(sys.argv[2], int(sys.argv[3]), sys.argv[4] if len(sys.argv) > 4 else ""))
    else:
        compare(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5)
