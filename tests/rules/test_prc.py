"""Precision rules: a simulated loss scaler, severities, and what they refuse to judge."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.prc.half_precision_overflows import half_precision_overflows
from traindx.rules.prc.half_precision_underflows import half_precision_underflows
from traindx.rules.prc.loss_scale_collapses import loss_scale_collapses
from traindx.rules.prc.steps_skipped_often import steps_skipped_often
from traindx.vocabulary.rule import CannotJudge, Outcome, Rule
from traindx.vocabulary.run import Event, Run

RULES = (half_precision_overflows, half_precision_underflows, loss_scale_collapses, steps_skipped_often)
FP16_MAX = 65504.0


def judged(rule: Rule, run: Run) -> Outcome:
    return judge_one(rule, run, Features(run), {})


def scaled(largest: np.ndarray, *, interval: int, every: int, start: float = 2.0**32) -> Run:
    """A dynamic scaler at work: it halves the scale and skips the step when the `largest` gradient of a step times
    the scale leaves fp16, and doubles it after `interval` good steps. Logged `every` so many steps."""
    scale, good, scales, skips = start, 0, [], []
    for gradient in largest:
        overflow = not np.isfinite(gradient) or gradient * scale > FP16_MAX
        scale, good = (scale / 2, 0) if overflow else (scale, good + 1)
        if good == interval:
            scale, good = scale * 2, 0
        scales.append(scale)
        skips.append(float(overflow))
    steps = np.arange(every, len(largest) + 1, every)
    counts = np.add.reduceat(skips, np.arange(0, len(steps) * every, every))
    signals = {
        "train/loss": make.healthy_loss(len(steps)),
        "loss_scale": np.array(scales)[steps - 1],
        "skipped_steps": counts,
        "grad_norm": 10 * largest[steps - 1],
    }
    return make.run({n: v[: len(steps)] for n, v in signals.items()}, steps=steps)


@pytest.mark.parametrize("every", [1, 10, 50])
@pytest.mark.parametrize("interval", [200, 1000, 2000])
def test_a_healthy_scaler_raises_no_alarm(every: int, interval: int) -> None:
    for seed in range(5):
        largest = 0.3 * np.exp(0.2 * make.rng(seed).standard_normal(4000))
        run = scaled(largest, interval=interval, every=every)
        assert [r.slug for r in RULES if judged(r, run).status == "fired"] == []


@pytest.mark.parametrize("every", [1, 10])
def test_gradients_that_grow_without_end_pull_the_scale_down(every: int) -> None:
    largest = 0.3 * np.exp(0.2 * make.rng(1).standard_normal(4000))
    largest[2000:] *= np.geomspace(1, 1e9, 2000)
    run = scaled(largest, interval=1000, every=every)
    overflow, collapse = judged(half_precision_overflows, run), judged(loss_scale_collapses, run)
    assert overflow.status == collapse.status == "fired"
    assert (overflow.evidence[0].onset or 0) > 2000
    assert overflow.evidence[0].severity == "low", "the loss falls all the same"


def test_gradients_that_are_never_finite_skip_every_step() -> None:
    largest = 0.3 * np.exp(0.2 * make.rng(2).standard_normal(3000))
    largest[1500:] = np.inf
    run = scaled(largest, interval=1000, every=10)
    skipped, collapse = judged(steps_skipped_often, run), judged(loss_scale_collapses, run)
    assert skipped.evidence[0].severity == "high"
    assert skipped.evidence[0].values["share"] == pytest.approx(1.0)
    assert (skipped.evidence[0].onset or 0) >= 1490
    assert collapse.evidence[0].severity == "high", "several norms in a row are not finite"


def test_a_scale_of_minus_one_is_not_judged() -> None:
    absent = make.run(
        {"train/loss": make.healthy_loss(50), "loss_scale": -np.ones(50), "grad_norm": np.ones(50)}
    )
    assert judged(half_precision_overflows, absent).status == "not-evaluated"
    assert judged(half_precision_underflows, absent).status == "not-evaluated"


def test_skips_cannot_be_counted_along_epochs() -> None:
    run = make.run({"train/loss": make.healthy_loss(20), "skipped_steps": np.full(20, 50.0)})
    epochs = Run(id="e", source="e", format="made", axis="epoch", series=run.series)
    assert judged(steps_skipped_often, run).status == "fired"
    assert judged(steps_skipped_often, epochs).status == "not-evaluated"


def test_single_events_are_counted_at_their_steps() -> None:
    steps = np.arange(0, 2000, 10)
    one_in_ten = tuple(Event("skipped-step", "overflow", float(s)) for s in range(1000, 2000, 10))
    run = make.run({"train/loss": make.healthy_loss(200)}, steps=steps, events=one_in_ten)
    outcome = judged(steps_skipped_often, run)
    assert outcome.status == "fired"
    assert outcome.evidence[0].values["share"] == pytest.approx(0.1, abs=0.02)
    assert (outcome.evidence[0].onset or 0) >= 1000


def test_a_rule_called_without_the_engine_names_the_curve_it_needs() -> None:
    run = make.run({"train/loss": np.ones(50)})
    with pytest.raises(CannotJudge, match="needs loss_scale, which was not recorded"):
        list(loss_scale_collapses.check(run, Features(run)))
