"""What the document of a proof says about a fix that was tried on a part of the run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.lab.repair.test_pairs import GOOD, OBJECTIVE, SLOW, arm, run
from traindx.lab.repair import document
from traindx.lab.repair.bench import Arm


def said(monkeypatch: pytest.MonkeyPatch, part: Arm, final: Arm, steps: int | None = 60) -> str:
    bench = SimpleNamespace(steps=steps, whole=None, cut=False, arms=lambda _: [part])
    search: Any = SimpleNamespace(bench=bench, first=arm(SLOW), base=("lr=*100",), seeds=(1,))
    monkeypatch.setattr(document, "choose_objective", lambda _: OBJECTIVE)
    return document.at_full_length(search, final)


def test_a_fix_that_was_tried_on_a_part_says_what_the_whole_run_comes_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    part = arm(run(0.05, steps=60))
    assert said(monkeypatch, part, arm(GOOD)).endswith("at full length (one run each)")
    assert said(monkeypatch, part, part) == "", "there was no time for the whole run"
    assert said(monkeypatch, part, arm(GOOD), steps=None) == "", "the trials were of full length"
    assert said(monkeypatch, part, arm(GOOD, ok=False)) == ""
    assert said(monkeypatch, arm(run(0.0005, steps=60)), arm(SLOW)) == "", "no gain there"
