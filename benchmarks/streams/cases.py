"""The runs that are replayed: labelled public logs, runs of the gym and public programs, printed or recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.gym.captured import RECORD
from benchmarks.gym.runner import rows
from benchmarks.gym.scoring.labels import labelled
from benchmarks.readings import half_of
from benchmarks.streams.replay import LEAST
from benchmarks.world.__main__ import Row, programs
from traindx import pipeline
from traindx.errors import ReadError
from traindx.vocabulary.run import Run

KINDS = {"healthy": "fine", "hurts": "sick", "harmless": "harmless"}


class Case(NamedTuple):
    """A run to replay. `kind` as in `Replayed`; `recorded`: the path is a record, not a log."""

    path: Path
    name: str
    half: str
    kind: str
    recorded: bool = False


def cases(folder: Path, recorded: bool) -> Iterator[Case]:
    """Those of a folder of readings (`labels.json`), of the gym (`journal.jsonl`) or of public programs
    (`<name>/row.json`). Raises FileNotFoundError."""
    if (folder / "labels.json").exists():
        yield from readings(folder)
        return
    if next(folder.glob("*/row.json"), None):
        yield from public_programs(folder, recorded)
        return
    for row in labelled(rows(folder / "journal.jsonl")):
        if row["verdict"] in KINDS:
            path = folder / "runs" / row["id"] / RECORD if recorded else folder / row["log"]
            yield Case(path, row["id"], "gym", KINDS[row["verdict"]], recorded)


def readings(folder: Path) -> Iterator[Case]:
    """The logs that everybody calls fine, or that everybody calls sick or failed."""
    for label in json.loads((folder / "labels.json").read_text()):
        verdicts = set(label["verdict"])
        fine = verdicts == {"fine"}
        if label["path"].startswith("logs/") and (fine or not verdicts & {"fine", "watch", "cannot-tell"}):
            yield Case(folder / label["path"], label["id"], half_of(label), "fine" if fine else "sick")


def public_programs(folder: Path, recorded: bool) -> Iterator[Case]:
    """The programs without a flaw that ended well; what they printed is laid next to their records."""
    for program in programs():
        place = folder / program.name
        if program.flaw or not (place / "row.json").exists():
            continue
        started = msgspec.json.decode((place / "row.json").read_bytes(), type=Row).seen
        if started.status:
            continue
        path = place / "record"
        if not recorded:
            path = place / "printed.log"
            path.write_text(started.out + started.err, encoding="utf-8")
        yield Case(path, program.name, program.half, "fine", recorded)


def read(case: Case) -> Run | None:
    """The longest run of a case; None where nothing long enough can be read."""
    try:
        runs = pipeline.read_capture(case.path) if case.recorded else pipeline.read_all(case.path)
    except ReadError:
        return None
    run = max(runs, key=lambda run: run.points)
    return run if run.points >= LEAST else None
