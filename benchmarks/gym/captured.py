"""Runs of the gym once more, under `traindx run`: the same scripts, with full capture.

The record lies in `runs/<id>/captured/record`; a run that has one is not made again. Seeds are taken in turn, so that
the first runs cover all causes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.gym import labels
from benchmarks.gym.runner import LIMIT, rows

RECORD = Path("captured") / "record"
WHOLE = "diagnosis.json"  # written beside the record when the run has ended


def capture_all(folder: Path, runs: int) -> None:
    """Capture the first `runs` runs of the journal that have a verdict and no record yet."""
    judged = [r for r in labels.labelled(rows(folder / "journal.jsonl")) if r["verdict"] in ("healthy", "hurts")]
    order = sorted(judged, key=lambda row: row["seed"])
    todo = [row for row in order[:runs] if not (folder / "runs" / row["id"] / RECORD.parent / WHOLE).exists()]
    started = time.monotonic()
    for number, row in enumerate(todo, 1):
        capture(folder / "runs" / row["id"])
        rest = (time.monotonic() - started) / number * (len(todo) - number) / 60
        print(f"{number} of {len(todo)}, about {rest:.1f} min left: {row['id']}", file=sys.stderr, flush=True)


def capture(place: Path) -> None:
    """One script under capture, in a folder of its own beside its log."""
    work = place / "captured"
    shutil.rmtree(work, ignore_errors=True)  # of a run that was broken off
    work.mkdir()
    program = Path(sys.executable).with_name("traindx")
    command = [program, "run", "--out", "record", "--format", "json", "--output", WHOLE, "--"]
    with (work / "errors.log").open("wb") as errors:
        try:
            subprocess.run(
                [*command, sys.executable, str((place / "train.py").resolve())], cwd=work, stdout=subprocess.DEVNULL,
                stderr=errors, timeout=3 * LIMIT, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            errors.write(b"stopped: too long\n")
