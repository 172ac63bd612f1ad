"""What earlier trials do to the belief, from a real database."""

from __future__ import annotations

import time
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("sqlalchemy", reason="the extra `knowledge` is not installed")

from tests.lab.repair.descent import Descent
from tests.lab.repair.test_search import searched
from traindx.lab.knowledge.counts import Outcome
from traindx.lab.knowledge.store import Store, address
from traindx.lab.repair.memory import Memory
from traindx.vocabulary.diagnosis import Hypothesis


def hypothesis(cause: str, probability: float) -> Hypothesis:
    return Hypothesis(cause=cause, title=cause, probability=probability)


BELIEF = (
    hypothesis("learning-rate-too-high", 0.5),
    hypothesis("label-noise", 0.4),
    hypothesis("healthy", 0.1),
)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TRAINDX_KB", str(tmp_path / "kb.sqlite"))
    return address()


def test_without_earlier_trials_the_belief_is_the_diagnosis(place: str) -> None:
    memory = Memory()
    assert memory.weigh(BELIEF) == BELIEF
    assert memory.notes() == []
    memory.close()


def test_earlier_trials_move_the_belief_by_their_counts_and_are_named(place: str) -> None:
    store = Store(place)
    verdicts = [("label-noise", "confirmed")] * 2 + [("learning-rate-too-high", "refuted")]
    store.add(
        [
            Outcome(
                at=time.time(),
                project="p",
                fix="f",
                cause=cause,
                interventions=("lr=*0.1",),
                verdict=verdict,
            )
            for cause, verdict in verdicts
        ]
    )
    store.close()
    memory = Memory()
    moved = memory.weigh(BELIEF)
    expected = {"label-noise": 0.4 * 3 / 4 * 2, "learning-rate-too-high": 0.5 * 1 / 3 * 2, "healthy": 0.1}
    total = sum(expected.values())
    assert [one.cause for one in moved] == ["label-noise", "learning-rate-too-high", "healthy"]
    for one in moved:
        assert one.probability == pytest.approx(expected[one.cause] / total, rel=1e-4)
    assert moved[0].for_[-1].finding == "earlier-trials"
    assert "label-noise x 1.5" in memory.notes()[-1]
    memory.close()
    assert Memory(use=False).weigh(BELIEF) == BELIEF


def test_only_what_was_compared_is_remembered(place: str, tmp_path: Path) -> None:
    proof = searched(tmp_path, Descent(rate=0.3))
    compared = next(one for one in proof.report.trials if one.verdict == "confirmed")
    there = msgspec.structs.replace(compared, fix="shuffle-data", verdict="refuted", seeds=())
    memory = Memory()
    assert (
        memory.add(proof._replace(report=msgspec.structs.replace(proof.report, trials=(compared, there))))
        == ""
    )
    memory.close()
    again = Memory()
    assert [one.fix for one in again.outcomes] == [compared.fix]
    again.close()
