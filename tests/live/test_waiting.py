"""What waiting costs, and when there is more to say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from tests import make
from tests.cli.process import traindx
from tests.live.test_sources import Kept, append, lines
from traindx.live.episodes import Episode, Episodes
from traindx.live.waiting import with_cost
from traindx.vocabulary.diagnosis import Finding
from traindx.vocabulary.live import LiveEvent
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

DECISION = LiveEvent(run="a", source="a", kind="decision", text="Inspect: a warning")
FINDING = Finding(
    code="GEN001", slug="some-rule", family="GEN", severity="medium", onset_step=1.0, last_step=2.0, where=None,
    message="a warning",
)  # fmt: skip


def run(steps: int = 601, **facts: float) -> Run:
    return make.run({"train/loss": np.linspace(2, 1, steps)}, setup=Setup().with_facts(facts, "log"))


@pytest.mark.parametrize(
    ("planned", "pace", "answer", "price", "text", "values"),
    [
        (20000, 0.125, 901, 2.5, "Look again at step 900 (40 min, a cost of 1.667).", (900, 300, 2 / 3, 5 / 3)),
        (20000, 0.125, 901, None, "Look again at step 900 (40 min).", (900, 300, 2 / 3, None)),
        (20000, None, 901, 2.5, "Look again at step 900.", (900, 300, None, None)),
        (700, 0.125, 901, None, "Look again at step 700 (13 min).", (700, 100, 2 / 9, None)),
        (4200, 1.0, None, 2.0, "Going on to step 4,200 takes 3,600 steps (60 min, a cost of 2).", (4200, 3600, 1.0, 2.0)),
    ],
)  # fmt: skip
def test_a_decision_says_what_waiting_costs(
    planned: int, pace: float | None, answer: int | None, price: float | None, text: str, values: tuple[float, ...]
) -> None:  # fmt: skip
    made = with_cost(DECISION, run(planned_steps=planned), pace, answer, price)
    assert made.text == f"Inspect: a warning. {text}"
    assert made.waiting is not None
    waiting = (made.waiting.until_step, made.waiting.steps, made.waiting.hours, made.waiting.cost)
    assert [v and round(v, 9) for v in waiting] == [v and round(v, 9) for v in values]


def test_where_no_end_is_planned_the_advice_to_stop_is_all() -> None:
    assert with_cost(DECISION, run(), 1.0, None, 2.5) == DECISION
    assert with_cost(DECISION, run(planned_steps=600), 1.0, None, 2.5) == DECISION


def test_the_decision_of_a_growing_log_has_its_price(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("max_steps: 1000\n" + lines(0, 100))
    kept = Kept(log)
    kept.follower.price = 3.6
    assert kept.after(0) == ["run-started"]
    append(log, lines(100, 199) + "step 199 | loss nan | lr 0.01\n")
    events = list(kept.follower.poll(200.0))  # 100 steps in 200 s
    assert [(event.kind, event.waiting is not None) for event in events] == [
        ("finding", False),
        ("decision", True),
    ]
    waiting = events[1].waiting
    assert waiting is not None
    assert (waiting.until_step, waiting.steps, waiting.hours) == (1000, 801, pytest.approx(1602 / 3600))
    assert waiting.cost == pytest.approx(1.602)
    assert events[1].text.endswith(" Going on to step 1,000 takes 801 steps (27 min, a cost of 1.602).")


def episode(state: Literal["pending", "firing"], since: int) -> Episode:
    return Episode(id="1", state=state, since=since, finding=FINDING, severity="medium")


def test_more_can_be_said_when_something_pending_has_lasted_long_enough() -> None:
    made = Episodes()
    assert made.next_answer(1000) == 1250  # another decision, which must hold for 25 % more points
    made.state.episodes["a"] = episode("pending", 1000)
    assert made.next_answer(1000) == 1150
    made.state.episodes["a"] = episode("firing", 1000)
    assert made.next_answer(1000) == 1250
    made.state.other_action, made.state.other_since = "inspect", 900
    assert made.next_answer(1000) == 1125
    made.state.action = "stop"
    assert made.next_answer(1000) is None


PRICES = {"2.5/h": True, "0.4": True, "-1/h": False, "2/d": False, "nan/h": False}


@pytest.mark.parametrize(("price", "right"), PRICES.items())
def test_a_price_is_an_amount_for_an_hour(tmp_path: Path, price: str, right: bool) -> None:
    (tmp_path / "a.log").write_text(lines(0, 20))
    done = traindx(
        "watch", "a.log", "--once", "--price", price, cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path)}
    )
    assert (done.status == 0) is right
    assert ("is not an amount for an hour" in done.err) is not right
