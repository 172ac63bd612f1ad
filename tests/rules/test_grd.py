"""Gradient rules: severities, onsets, what they refuse to judge, and how often they cry wolf."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.loops import Loop, trained
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.grd.clipping_always_active import clipping_always_active
from traindx.rules.grd.clipping_never_active import clipping_never_active
from traindx.rules.grd.gradient_is_zero import gradient_is_zero
from traindx.rules.grd.gradient_norm_explodes import gradient_norm_explodes
from traindx.rules.grd.gradient_norm_grows import gradient_norm_grows
from traindx.rules.grd.gradient_norm_spikes import gradient_norm_spikes
from traindx.rules.grd.gradient_norm_vanishes import gradient_norm_vanishes
from traindx.rules.grd.gradient_not_finite import gradient_not_finite
from traindx.vocabulary.rule import Evidence, Outcome, Rule
from traindx.vocabulary.run import Run
from traindx.vocabulary.setup import Setup

FROM_LOGS = (
    gradient_norm_explodes, gradient_norm_grows, gradient_norm_spikes, gradient_norm_vanishes, gradient_not_finite,
    gradient_is_zero, clipping_always_active,
)  # fmt: skip


def judged(rule: Rule, run: Run) -> Outcome:
    return judge_one(rule, run, Features(run), {})


def seen(rule: Rule, run: Run) -> Evidence:
    outcome = judged(rule, run)
    assert outcome.status == "fired", outcome.reason
    return outcome.evidence[0]


def healthy(seed: int) -> Run:
    """Norms as healthy runs have them: log-normal, correlated from step to step, wandering, large at first."""
    rng = make.rng(seed)
    n = int(rng.integers(30, 600))
    noise = rng.uniform(0.05, 0.6) * rng.standard_normal(n)
    wander = rng.uniform(0, 0.4) * np.sin(np.linspace(0, rng.uniform(1, 9), n) + rng.uniform(0, 6))
    opening = rng.uniform(0, 3) * np.exp(-np.arange(n) / rng.uniform(1, 10))
    scale = 10.0 ** rng.uniform(-2, 3)
    loss = make.healthy_loss(n, noise=rng.uniform(0.01, 0.1), seed=seed)
    return make.run(
        {"train/loss": loss, "grad_norm": scale * np.exp(noise + wander + opening)},
        setup=Setup(clip_norm=scale),
    )


def test_healthy_runs_raise_no_alarm() -> None:
    alarms = []
    for seed in range(300):
        run = healthy(seed)
        for rule in FROM_LOGS:
            alarms += [
                (seed, rule.slug)
                for e in judged(rule, run).evidence
                if (e.severity or rule.severity) in ("medium", "high")
            ]
    assert len(alarms) <= 3, alarms  # of 300


@pytest.mark.parametrize("seed", range(4))
def test_healthy_nets_raise_no_alarm(seed: int) -> None:
    for loop in (Loop(seed=seed), Loop(seed=seed, momentum=0.9, lr=0.02), Loop(seed=seed, depth=3, lr=0.05)):
        for rule in FROM_LOGS[:-1]:
            assert judged(rule, trained(loop)).status == "clear", rule.slug


def test_an_explosion_is_dated_at_its_start() -> None:
    norm = np.exp(0.1 * make.rng(1).standard_normal(400))
    norm[250:] *= np.minimum(1.2 ** np.arange(150), 1e4)
    loss = np.r_[make.healthy_loss(270), np.full(130, 6.0)]
    found = seen(gradient_norm_explodes, make.run({"train/loss": loss, "grad_norm": norm}))
    assert 250 < (found.onset or 0) < 270
    assert found.aspects == ("late",)
    assert found.points[0].value == pytest.approx(1e4, rel=0.5)


def test_an_explosion_that_ends_the_run_says_so() -> None:
    assert (
        "until-not-finite"
        in seen(
            gradient_norm_explodes, trained(Loop(accumulates=True, lr=0.05, momentum=0.9, depth=3))
        ).aspects
    )


def test_growth_matters_as_much_as_the_loss_does() -> None:
    norm = np.geomspace(1, 5, 400) * np.exp(0.1 * make.rng(2).standard_normal(400))
    level, worse = 1.4 + 0.02 * make.rng(3).standard_normal(400), np.linspace(1, 1.5, 400)
    severities = [
        seen(gradient_norm_grows, make.run({"train/loss": loss, "grad_norm": norm})).severity
        for loss in (make.healthy_loss(), level, worse)
    ]
    assert severities == ["info", "low", "medium"]


def test_a_spike_is_a_note_low_where_the_loss_answers_and_medium_where_it_stays_up() -> None:
    norm, loss = np.exp(0.1 * make.rng(4).standard_normal(400)), make.healthy_loss()
    norm[200], bumped = 50.0, loss.copy()
    assert seen(gradient_norm_spikes, make.run({"train/loss": loss, "grad_norm": norm})).severity == "info"
    bumped[201] *= 3
    found = seen(gradient_norm_spikes, make.run({"train/loss": bumped, "grad_norm": norm}))
    assert (found.severity, found.onset, found.last) == ("low", 200.0, 200.0)
    assert "loss-answers" in found.aspects
    bumped = np.where(np.arange(len(loss)) > 200, 3 * loss, loss)
    found = seen(gradient_norm_spikes, make.run({"train/loss": bumped, "grad_norm": norm}))
    assert (found.severity, found.onset, found.last) == ("medium", 200.0, 200.0)
    assert "loss-answers" in found.aspects


def test_three_rows_with_a_leap_that_the_loss_answers() -> None:
    run = make.run({"train/loss": [2.1, 2.2, 5.9], "grad_norm": [3e3, 7e4, 6e4]})
    assert seen(gradient_norm_spikes, run).aspects == ("loss-answers", "unresolved")
    assert (
        judged(
            gradient_norm_spikes, make.run({"train/loss": [2.1, 2.0, 1.9], "grad_norm": [3e3, 7e4, 6e4]})
        ).status
        == "clear"
    )


def test_isolated_rows_that_are_not_finite_are_low() -> None:
    norm = np.ones(300)
    norm[150] = np.inf
    found = seen(gradient_not_finite, make.run({"train/loss": make.healthy_loss(300), "grad_norm": norm}))
    assert (found.severity, found.aspects, found.onset) == ("low", ("isolated",), 150.0)


def test_a_short_log_without_a_finite_norm_depends_on_the_loss() -> None:
    falling, zero = np.linspace(2.3, 2.2, 6), np.zeros(6)
    nan = np.full(6, np.nan)
    assert (
        seen(gradient_not_finite, make.run({"train/loss": falling, "grad_norm": nan})).severity == "medium"
    )
    assert seen(gradient_not_finite, make.run({"train/loss": zero, "grad_norm": nan})).severity == "high"
    assert judged(gradient_not_finite, make.run({"grad_norm": [np.nan]})).status == "not-evaluated"


def test_zeros_that_mean_not_recorded_are_not_judged() -> None:
    outcome = judged(
        gradient_is_zero, make.run({"train/loss": make.healthy_loss(), "grad_norm": np.zeros(400)})
    )
    assert outcome.status == "not-evaluated"
    assert "not recorded" in outcome.reason
    assert (
        judged(
            gradient_norm_vanishes, make.run({"train/loss": np.ones(50), "grad_norm": np.zeros(50)})
        ).status
        == "not-evaluated"
    )


def test_clipping_needs_to_know_the_clip() -> None:
    norms = {"grad_norm": np.full(60, 3.0)}
    assert judged(clipping_always_active, make.run(norms)).status == "not-evaluated"
    percent = make.run({"clip_ratio": np.full(60, 55.0)})
    assert judged(clipping_always_active, percent).status == "not-evaluated"
    assert judged(clipping_never_active, percent).status == "not-evaluated"


@pytest.mark.parametrize(("optimizer", "severity"), [("sgd", "medium"), ("AdamW", "low"), (None, "medium")])
def test_a_tight_clip_matters_less_to_optimizers_that_rescale(optimizer: str | None, severity: str) -> None:
    setup = Setup(clip_norm=0.01, optimizer=optimizer)
    assert (
        seen(clipping_always_active, make.run({"grad_norm": np.full(60, 3.0)}, setup=setup)).severity
        == severity
    )


def test_a_loose_clip_is_a_remark() -> None:
    run = make.run({"grad_norm": np.full(60, 2.5)}, setup=Setup(clip_norm=1.0))
    found = seen(clipping_always_active, run)
    assert found.severity == "info"
    assert found.values["ratio"] == pytest.approx(0.4)


def test_all_rows_that_are_not_finite_are_counted_and_the_first_is_named() -> None:
    norms = np.array([np.nan, 0.4, 0.7, np.nan, 0.5, 0.6, 0.4, 0.5, 0.6])
    run = make.run({"train/loss": 1.0 - 0.05 * np.arange(9), "grad_norm": norms})
    values = seen(gradient_not_finite, run).values
    assert (values["count"], values["rows"], values["since"], values["step"]) == (2, 9, "first at", 0)
