"""Diagnoses of labelled logs: every log at every level of information that it holds, and of its beginnings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from benchmarks.gym.captured import RECORD, WHOLE
from traindx import pipeline
from traindx.errors import ReadError
from traindx.vocabulary.diagnosis import SEVERITIES, RunDiagnosis
from traindx.vocabulary.run import Run, Series

LEVELS = ("loss", "loss+val", "rich", "capture")
BEGINNINGS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75)
ALARMING = SEVERITIES[: SEVERITIES.index("medium") + 1]


@dataclass
class Record:
    """One diagnosis of one log at one level; `row` is the label's. `sick_at`: the share of the run after which it
    was first called sick (None: never, or not asked)."""

    row: dict[str, Any]
    level: str
    own: bool
    health: str
    causes: list[tuple[str, float]]
    findings: list[dict[str, Any]]
    signals: dict[str, int]
    pattern: str | None = None
    sick_at: float | None = None
    runs: int = 1

    @property
    def healthy(self) -> bool:
        return bool(self.row["verdict"] == "healthy")

    @property
    def hurt(self) -> bool:
        return bool(self.row["verdict"] == "hurts")

    @property
    def called_sick(self) -> bool:
        return self.health in ("sick", "failed")

    @property
    def alarms(self) -> list[dict[str, Any]]:
        """Findings of medium severity or worse."""
        return [f for f in self.findings if f["severity"] in ALARMING]

    def rank(self) -> int | None:
        """Place of the first right answer among the causes, from 1."""
        right = set(self.row["causes"])
        return next((i + 1 for i, (cause, _) in enumerate(self.causes) if cause in right), None)


def records(folder: Path, row: dict[str, Any], *, detection: bool) -> Iterator[Record | str]:
    """A log's records, its own level last; or the reason why it cannot be read."""
    try:
        found = pipeline.read_all(folder / row["log"])
    except ReadError as error:
        yield error.why
        return
    run = longest(found)
    if "train/loss" not in run.series and row["style"] not in ("own", None):
        yield f"no training loss among {sorted(run.series)}"
        return
    held = levels_of(run, row)
    for level in held:
        seen = reduced(run, level)
        said = record(row, level, level == held[-1], seen, pipeline.diagnose(seen).first)
        said.runs = len(found)
        if said.own and detection and said.called_sick:
            said.sick_at = detected(run)
        yield said
    record_at = folder / "runs" / str(row["id"]) / RECORD
    if (record_at.parent / WHOLE).exists():
        yield captured(row, record_at)


def captured(row: dict[str, Any], place: Path) -> Record | str:
    """The diagnosis from full capture."""
    try:
        run = longest(pipeline.read_capture(place))
    except ReadError as error:
        return f"capture: {error.why}"
    return record(row, "capture", False, run, pipeline.diagnose(run).first)


def longest(runs: tuple[Run, ...]) -> Run:
    return max(runs, key=lambda run: run.points)


def levels_of(run: Run, row: dict[str, Any]) -> list[str]:
    """The levels that a run can be reduced to, the fullest last."""
    held = ["loss"]
    held += ["loss+val"] * any(name.startswith("val/") for name in run.series)
    return held + ["rich"] * any(name == "lr" or name.startswith("grad_norm") for name in run.series)


def reduced(run: Run, level: str) -> Run:
    """The run as it would be, had less been logged."""
    if level in ("rich", "capture"):
        return run
    first = ("train/",) if level == "loss" else ("train/", "val/")
    kept = {
        n: s for n, s in run.series.items() if n == "train/loss" or (level != "loss" and n.startswith(first))
    }
    return msgspec.structs.replace(run, series=kept, setup=msgspec.structs.replace(run.setup, lr=None))


def record(row: dict[str, Any], level: str, own: bool, run: Run, said: RunDiagnosis) -> Record:
    return Record(
        row=row,
        level=level,
        own=own,
        health=said.health,
        causes=[(h.cause, h.probability) for h in said.hypotheses],
        findings=[{"slug": f.slug, "severity": f.severity, "onset": f.onset_step, "message": f.message}
                  for f in said.findings],
        signals={name: len(s) for name, s in run.series.items()},
        pattern=next((h.pattern for h in said.hypotheses if h.cause == "healthy"), None),
    )  # fmt: skip


def detected(run: Run) -> float:
    """The share of the run after which it is first called sick (1: only the whole is)."""
    for share in BEGINNINGS:
        beginning = cut(run, share)
        if beginning.points >= 3 and pipeline.diagnose(beginning).first.health in ("sick", "failed"):
            return share
    return 1.0


def cut(run: Run, share: float) -> Run:
    """The first part of a run, as a log that is still being written."""
    first, last = run.first_step or 0.0, run.last_step or 0.0
    until = first + share * (last - first)
    parts = {n: head(s, until) for n, s in run.series.items()}
    return msgspec.structs.replace(run, series={n: s for n, s in parts.items() if len(s)}, complete=None)


def head(signal: Series, until: float) -> Series:
    n = int(np.searchsorted(signal.steps, until, side="right"))
    return Series(signal.steps[:n], signal.values[:n], None if signal.times is None else signal.times[:n])
