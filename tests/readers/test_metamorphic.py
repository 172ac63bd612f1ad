"""What must not change a verdict does not, on twenty logs that tools really wrote (`benchmarks.metamorphic`)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from benchmarks.metamorphic.__main__ import outcomes
from benchmarks.metamorphic.cases import cases
from benchmarks.metamorphic.columns import Exempt
from benchmarks.metamorphic.relations import RELATIONS, Subject
from traindx.readers.raw import RawLog, column

LOGS = Path(__file__).parents[1] / "logs"
HOW_MANY = 20


def subjects() -> Iterator[Subject]:
    """Logs of one run each, at most two of a format."""
    for case in cases(LOGS):
        if case.name == "make":  # the scripts that wrote the logs
            continue
        found = 0
        for number, raw in enumerate(case.read()):
            try:
                subject = Subject(raw, f"{case.name}#{number}")
            except Exempt:
                continue
            yield subject
            found += 1
            if found == 2:
                break


def test_twenty_logs_keep_their_verdicts() -> None:
    chosen = sorted(subjects(), key=lambda s: hashlib.sha256(s.name.encode()).digest())[:HOW_MANY]
    assert len(chosen) == HOW_MANY
    tried: set[str] = set()
    for subject in chosen:
        for name, found in outcomes(subject, "")["outcome"].items():
            if not any(kind.startswith("exempt") for kind in found):
                assert not found, (subject.name, name)
                tried.add(name)
    assert {relation.name for relation in RELATIONS} - tried <= {"one spike added"}


def log(loss: np.ndarray) -> RawLog:
    rows = np.arange(len(loss))
    return RawLog("made", "csv", columns={"step": column(rows, rows), "loss": column(loss, rows)})


def test_a_change_that_matters_is_a_violation() -> None:
    """A relation is no promise where its change is what a verdict is about: here the last tenth is all the harm."""
    steps = np.arange(200.0)
    falls = 0.3 + 2 * np.exp(-steps / 30) + np.random.default_rng(0).normal(0, 0.01, 200)
    one = Subject(log(falls), "falls")
    cut = next(r for r in RELATIONS if r.name == "last tenth cut")
    assert cut.check(one) == []
    late = Subject(log(np.where(steps > 150, falls * 1.2 ** (steps - 150), falls)), "late")
    assert late.base.health in ("sick", "failed")
    with pytest.raises(Exempt):
        next(r for r in RELATIONS if r.name == "one spike added").check(late)
