"""What logs of unknown projects taught the rules: each with a look-alike that must be judged otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.gen.validation_gap_grows import validation_gap_grows
from traindx.rules.los.discriminator_wins import discriminator_wins
from traindx.rules.los.loss_flat_from_start import loss_flat_from_start
from traindx.rules.los.loss_plateaus import loss_plateaus
from traindx.rules.los.posterior_collapses import posterior_collapses
from traindx.rules.lrs.learning_rate_jumps import learning_rate_jumps
from traindx.vocabulary.rule import Outcome, Rule
from traindx.vocabulary.run import Run


def judged(rule: Rule, run: Run) -> Outcome:
    return judge_one(rule, run, Features(run), {})


@pytest.mark.parametrize(
    ("after", "rises", "severity"),
    [(5e-5, 0.0, "low"), (5e-5, 1.0, "medium"), (5e-6, 0.0, "medium"), (5e-3, 0.0, "medium")],
)
def test_one_cut_of_the_rate_is_a_step_of_the_schedule(after: float, rises: float, severity: str) -> None:
    loss = np.linspace(2.0, 0.5, 60)
    loss[40:] += rises
    rate = np.where(np.arange(60) < 40, 1e-3, after)
    outcome = judged(learning_rate_jumps, make.run({"train/loss": loss, "lr": rate}))
    assert [str(e.severity) for e in outcome.evidence] == [severity]


@pytest.mark.parametrize(("divergence", "status"), [(1e-5, "fired"), (3e-4, "clear")])
def test_a_divergence_that_was_small_from_the_start_collapses_too(divergence: float, status: str) -> None:
    kl = np.concatenate([[5e-3, 1e-3], np.full(28, divergence)])
    run = make.run({"train/kl": kl, "train/recon": np.full(30, 0.0105), "train/loss": kl + 0.0105})
    assert judged(posterior_collapses, run).status == status


@pytest.mark.parametrize(
    ("d", "g", "status"), [(70.0, 0.0, "fired"), (1.4, 0.0, "clear"), (70.0, 3.0, "clear")]
)
def test_a_discriminator_that_is_always_fooled(d: float, g: float, status: str) -> None:
    scatter = make.rng(1).standard_normal(20)
    run = make.run({"train/d_loss": d * (1 + 0.05 * scatter), "train/g_loss": np.full(20, g)})
    assert judged(discriminator_wins, run).status == status


@pytest.mark.parametrize(("slope", "status"), [(0.0, "fired"), (0.3, "clear")])
def test_a_level_within_scatter_is_noted(slope: float, status: str) -> None:
    noise = 0.1 * make.rng(4).standard_normal(68)
    loss = np.concatenate([[2.5, 2.1], np.full(66, 1.8)]) + noise - slope * np.arange(68) / 68 * 2
    outcome = judged(loss_plateaus, make.run({"train/loss": loss}))
    assert outcome.status == status
    assert all(e.severity == "info" for e in outcome.evidence)


def test_a_level_that_still_creeps_down_is_noted() -> None:
    loss = np.concatenate([[0.509], 0.495 - 1e-6 * np.arange(49)])
    assert judged(loss_plateaus, make.run({"train/loss": loss})).status == "fired"


SCATTERED = np.array([0.26, 0.49, 0.42, 0.08, 0.15, 0.11, 0.47, 0.20, 0.45, 0.16])


@pytest.mark.parametrize(("samples", "severities"), [(16, {"low"}), (997, {"medium", "high"})])
def test_a_few_samples_change_a_validation_loss_by_chance(samples: int, severities: set[str]) -> None:
    accuracy = (
        np.round(np.array([0.87, 0.81, 0.83, 0.99, 0.94, 0.96, 0.8, 0.88, 0.75, 0.93]) * samples) / samples
    )
    run = make.run(
        {"val/loss": SCATTERED, "val/accuracy": accuracy, "train/loss": np.linspace(0.32, 0.1, 10)}
    )
    assert {str(e.severity) for e in judged(validation_gap_grows, run).evidence} <= severities


def test_a_clear_rise_of_few_samples_stays_grave() -> None:
    """Two hundred epochs that rise in order are no chance, however few samples there are."""
    accuracy = np.round(np.linspace(0.8, 0.6, 200) * 16) / 16
    signals = {"val/loss": np.linspace(0.7, 1.3, 200), "train/loss": np.linspace(0.7, 0.2, 200)}
    outcome = judged(validation_gap_grows, make.run({**signals, "val/accuracy": accuracy}))
    assert [str(e.severity) for e in outcome.evidence] == ["high"]


@pytest.mark.parametrize(("trained", "status"), [(0.0042, "clear"), (0.042, "fired")])
def test_losses_of_another_unit_have_no_gap(trained: float, status: str) -> None:
    """With 28 % wrong answers, a cross-entropy of 0.004 is not a mean over samples."""
    accuracy = 0.72 if trained < 0.01 else 0.98
    run = make.run(
        {
            "train/loss": np.full(6, trained),
            "train/accuracy": np.full(6, accuracy),
            "val/loss": np.full(6, 0.5),
            "val/accuracy": np.full(6, 0.67),
        }
    )
    assert judged(validation_gap_grows, run).status == status


@pytest.mark.parametrize("total", [True, False])
def test_a_part_that_rises_while_the_whole_falls_is_a_note(total: bool) -> None:
    part = np.concatenate([np.linspace(0.02, 0.002, 10), np.linspace(0.0025, 0.006, 20)])
    part *= 1 + 0.01 * make.rng(3).standard_normal(30)
    signals = {"val/loss_h": part, "train/loss_h": np.linspace(0.02, 0.001, 30)}
    if total:
        signals |= {"val/loss": np.linspace(0.9, 0.37, 30), "train/loss": np.linspace(0.9, 0.38, 30)}
    outcome = judged(validation_gap_grows, make.run(signals))
    assert {str(e.severity) for e in outcome.evidence} <= ({"info"} if total else {"medium", "high"})
    assert outcome.status == "fired"


def test_the_reward_itself_comes_before_its_parts() -> None:
    run = make.run({"train/constraint_rewards": np.zeros(9), "train/reward": np.arange(9.0)})
    assert Features(run).objective_name == "train/reward"


def test_a_reward_without_gain_shows_the_levels_that_are_compared() -> None:
    """The first three of 500 episodes are odd: from them the reward would seem to rise."""
    reward = -145 + 50 * make.rng(2).standard_normal(500)
    reward[:5] = -300
    (found,) = judged(loss_flat_from_start, make.run({"train/reward": reward})).evidence
    assert abs(found.values["start"] - found.values["end"]) < 20  # type: ignore[operator]


@pytest.mark.parametrize(("scatter", "severity"), [(0.0, "medium"), (0.1, "low")])
def test_a_saturated_generator_is_lost_from_the_start(scatter: float, severity: str) -> None:
    g = 16.118 + scatter * make.rng(3).standard_normal(12)
    run = make.run({"train/d_loss": 1e-4 / np.arange(1, 13), "train/g_loss": g})
    assert [e.severity or "medium" for e in judged(discriminator_wins, run).evidence] == [severity]
