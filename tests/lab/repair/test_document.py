"""What the document of a proof says about a fix that was tried on a part of the run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.lab.repair.test_pairs import GOOD, OBJECTIVE, SLOW, arm, run
from traindx.lab.repair import document
from traindx.lab.repair.bench import Arm
from traindx.vocabulary.trial import Ablation


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


@pytest.mark.parametrize(
    ("shares", "explained"), [((0.39, 0.23), True), ((0.7, 0.28), False), ((1.4,), False)]
)
def test_shares_that_do_not_add_up_are_explained(shares: tuple[float, ...], explained: bool) -> None:
    parts = tuple(Ablation(fix="f", interventions=("a=b",), share=one) for one in shares)
    bench = SimpleNamespace(notes=[], how=lambda: "")
    search: Any = SimpleNamespace(bench=bench, notes=[])
    winner = document.Winner(OBJECTIVE, [], parts, None, arm(GOOD), "")
    said = " ".join(document.all_notes(search, winner, []))
    assert ("need not add up to 100 %" in said) == explained
