"""What recording costs beside the plain loop, in CPU time, for steps that take over ten milliseconds:

    python -m benchmarks.frames.cost torch|lightning|hf|keras|nnx|equinox [PAIRS]      # KERAS_BACKEND tells which Keras

One net with two layers of 1,024 units, in batches of 256, is trained in processes of its own, plain and recorded as
`traindx run` records it, in turns. The CPU time is that of `train` alone: a long training less a short one, so that
neither imports nor compilation count.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from benchmarks.frames.__main__ import OF, attached
from benchmarks.frames.cells import PLAIN

EPOCHS = (20, 60)  # of four steps each


def once(framework: str, epochs: int, folder: str) -> float:
    """CPU seconds of one training in this process; recorded where a folder is given."""
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
            framework,
            f"--epochs={epochs}",
            f"--folder={out}",
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("framework", choices=list(OF))
    parser.add_argument("pairs", type=int, nargs="?", default=5, help="of trainings, plain and recorded")
    parser.add_argument("--epochs", type=int, help="train once in this process, and print its CPU seconds")
    parser.add_argument("--folder", default="", help="record that training into this folder")
    asked = parser.parse_args()
    if asked.epochs is None:
        compare(asked.framework, asked.pairs)
    else:
        print(once(asked.framework, asked.epochs, asked.folder))


if __name__ == "__main__":
    main()
