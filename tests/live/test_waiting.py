"""What waiting costs, and when there is more to say."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
import pytest

from tests import make
from tests.cli.process import traindx
from tests.live.test_sources import Kept, append, lines
from traindx.live.episodes import Episode, Episodes
from traindx.live.waiting import forecast_of, waiting_of, with_outlook
from traindx.pipeline import diagnose
from traindx.vocabulary.diagnosis import Decision, Finding
from traindx.vocabulary.live import LiveEvent
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

DECISION = LiveEvent(
    run="a",
    source="a",
    kind="decision",
    text="Inspect: a warning",
    decision=Decision("inspect", "a warning", 0.9),
)
STOP = msgspec.structs.replace(DECISION, decision=Decision("stop", "a warning", 0.9))
FINDING = Finding(
    code="GEN001", slug="some-rule", family="GEN", severity="medium", onset_step=1.0, last_step=2.0, where=None,
    message="a warning",
)  # fmt: skip


def run(steps: int = 601, **facts: float) -> Run:
    return make.run({"train/loss": np.linspace(2, 1, steps)}, setup=Setup().with_facts(facts, "log"))


@pytest.mark.parametrize(
    ("planned", "pace", "answer", "price", "text", "values"),
    [
        (20000, 0.125, 901, 2.5, "Look again at step 900 (40 min, a cost of 1.67).", (900, 300, 2 / 3, 5 / 3)),
        (20000, 0.125, 901, None, "Look again at step 900 (40 min).", (900, 300, 2 / 3, None)),
        (20000, None, 901, 2.5, "Look again at step 900.", (900, 300, None, None)),
        (700, 0.125, 901, None, "Look again at step 700 (13 min).", (700, 100, 2 / 9, None)),
        (4200, 1.0, None, 2.0, "Going on to step 4,200 takes 3,600 steps (60 min, a cost of 2).", (4200, 3600, 1.0, 2.0)),
    ],
)  # fmt: skip
def test_a_decision_says_what_waiting_costs(
    planned: int, pace: float | None, answer: int | None, price: float | None, text: str, values: tuple[float, ...]
) -> None:  # fmt: skip
    waiting = waiting_of(run(planned_steps=planned), pace, answer, price)
    made = with_outlook(DECISION if answer else STOP, waiting, None)
    assert made.text == f"Inspect: a warning. {text}"
    assert made.waiting is not None
    parts = (made.waiting.until_step, made.waiting.steps, made.waiting.hours, made.waiting.cost)
    assert [v and round(v, 9) for v in parts] == [v and round(v, 9) for v in values]


def test_where_no_end_is_planned_the_advice_to_stop_is_all() -> None:
    assert waiting_of(run(), 1.0, None, 2.5) is None
    assert waiting_of(run(planned_steps=600), 1.0, None, 2.5) is None
    assert with_outlook(STOP, None, None) == STOP


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
    assert events[1].text.endswith(" Going on to step 1,000 takes 801 steps (27 min, a cost of 1.6).")


def test_a_reason_that_names_its_step_is_not_contradicted() -> None:
    reason = "the loss has not improved in 600 steps. Some runs start late: check again at step 1800"
    late = msgspec.structs.replace(DECISION, decision=Decision("inspect", reason, 0.9))
    assert with_outlook(late, waiting_of(run(), 1.0, 751, None), None).text == DECISION.text


def test_what_is_counted_in_epochs_is_called_so() -> None:
    text = with_outlook(DECISION, waiting_of(run(), None, 751, None), None, "epoch").text
    assert text.endswith("Look again at epoch 750.")


def curve(kind: str) -> Run:
    x = np.linspace(0, 1, 600)
    values: dict[str, dict[str, object]] = {
        "loss": {"train/loss": 0.3 + 2 * (1 + 200 * x) ** -0.5},
        "short": {"train/loss": 2 - x[:10]},
        "accuracy": {"train/accuracy": 1 - 0.5 * np.exp(-9 * x)},
        "noise": {"train/loss": 0.01 + abs(np.sin(1e5 * x))},
        "duel": {"train/g_loss": 3 - 2 * x, "train/d_loss": 0.5 + 0.1 * x},
        "diverged": {"train/loss": np.where(x < 0.5, 2 - x, 40.0 + x)},
    }
    return make.run(values[kind], setup=Setup().with_facts({"planned_steps": 1200}, "log"))


@pytest.mark.parametrize("kind", ["short", "noise", "duel", "diverged"])
def test_what_cannot_be_forecast_is_not(kind: str) -> None:
    assert forecast_of(diagnose(curve(kind)).first) is None


def test_a_decision_says_where_the_loss_is_going() -> None:
    point = forecast_of(diagnose(curve("loss")).first)
    assert point is not None
    assert point.low < 0.3 + 2 * 401**-0.5 < point.high
    event = with_outlook(DECISION, None, point)
    assert event.forecast == point
    assert event.text.startswith("Inspect: a warning. Forecast: train/loss about 0.")
    assert " by step 1,200, probably between 0." in event.text


def test_no_forecast_goes_beyond_what_a_score_can_be() -> None:
    points = diagnose(curve("accuracy")).first.forecast
    assert points
    assert all(p.low <= p.median <= p.high <= 1 for p in points)


def test_the_state_now_has_its_decision_and_its_forecast(tmp_path: Path) -> None:
    """Also of a run that goes well, for which following reports nothing."""
    losses = curve("loss").series["train/loss"].values
    text = "".join(f"step {i}/1200 | loss {loss:.4f}\n" for i, loss in enumerate(losses))
    (tmp_path / "a.log").write_text(text)
    done = traindx("watch", "a.log", "--once", cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path)})
    assert done.status == 0
    assert "Continue: the loss is still improving. Forecast: train/loss about 0." in done.out
    assert "Look again at step 749." in done.out


def episode(state: Literal["pending", "firing"], since: int) -> Episode:
    return Episode(id="1", state=state, since=since, finding=FINDING, severity="medium")


def test_more_can_be_said_when_something_pending_has_lasted_long_enough() -> None:
    made = Episodes()
    assert made.points_to_next_answer(1000) == 1250  # another decision, which must hold for 25 % more points
    made.state.episodes["a"] = episode("pending", 1000)
    assert made.points_to_next_answer(1000) == 1150
    made.state.episodes["a"] = episode("firing", 1000)
    assert made.points_to_next_answer(1000) == 1250
    made.state.other_action, made.state.other_since = "inspect", 900
    assert made.points_to_next_answer(1000) == 1125
    made.state.action = "stop"
    assert made.points_to_next_answer(1000) is None


PRICES = {"2.5/h": True, "0.4": True, "-1/h": False, "2/d": False, "nan/h": False}


@pytest.mark.parametrize(("price", "right"), PRICES.items())
def test_a_price_is_an_amount_for_an_hour(tmp_path: Path, price: str, right: bool) -> None:
    (tmp_path / "a.log").write_text(lines(0, 20))
    done = traindx(
        "watch", "a.log", "--once", "--price", price, cwd=tmp_path, env={"XDG_STATE_HOME": str(tmp_path)}
    )
    assert (done.status == 0) is right
    assert ("is not an amount for an hour" in done.err) is not right
