"""Rules on what logs hold: exploring agents, epochs at rest, perplexities, parts of a loss, gaps next to scores."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from traindx.features.curves.score_scales import scale_of
from traindx.features.shared import Features
from traindx.rules import judge_one
from traindx.rules.gen.metric_constant_or_impossible import metric_constant_or_impossible
from traindx.rules.gen.validation_gap_grows import validation_gap_grows
from traindx.rules.grd.gradient_not_finite import gradient_not_finite
from traindx.rules.los.loss_diverges import loss_diverges
from traindx.rules.los.loss_flat_from_start import loss_flat_from_start
from traindx.rules.los.loss_plateaus import loss_plateaus
from traindx.rules.sys.step_time_creeps import step_time_creeps
from traindx.vocabulary.rule import Outcome, Rule
from traindx.vocabulary.run import Run


def judged(rule: Rule, run: Run) -> Outcome:
    return judge_one(rule, run, Features(run), {})


@pytest.mark.parametrize(("decay", "status"), [(0.998, "not-evaluated"), (0.95, "fired")])
def test_an_agent_that_explores_is_not_judged_yet(decay: float, status: str) -> None:
    reward = -300 + 20 * make.rng(2).standard_normal(60)
    assert (
        judged(
            loss_flat_from_start, make.run({"train/reward": reward, "Epsilon": decay ** np.arange(60)})
        ).status
        == status
    )


@pytest.mark.parametrize(("last", "status"), [(162.0, "fired"), (150.0, "clear")])
def test_a_few_epochs_at_rest_are_a_plateau(last: float, status: str) -> None:
    """The curve gains nothing in its last two thirds, against a tenth of its level."""
    loss = np.concatenate([[673.0, 259.0, 186.0, 164.0], np.linspace(166.0, last, 8)])
    assert judged(loss_plateaus, make.run({"val/loss": loss})).status == status


@pytest.mark.parametrize(("level", "status"), [(5140.0, "fired"), (140.0, "clear")])
def test_perplexity_shows_a_rise_that_the_loss_hides(level: float, status: str) -> None:
    steps = np.array([11_000.0, 12_500.0, 13_000.0, 14_000.0])
    run = make.run(
        {"val/loss": [8.1, 7.9, 9.6, 9.8], "val/perplexity": [131.2, 118.5, level, 1.1 * level]}, steps=steps
    )
    assert judged(loss_diverges, run).status == status


def test_a_part_of_the_loss_is_no_score() -> None:
    assert scale_of("val/loss_iou", np.array([3.7, 3.1])) is None
    assert scale_of("val/iou", np.array([0.3, 0.6])) is not None


@pytest.mark.parametrize(("accuracy", "severity"), [(0.95, "low"), (0.7, "medium")])
def test_a_ratio_of_losses_weighs_less_where_the_score_carries_over(accuracy: float, severity: str) -> None:
    """A training loss of next to nothing makes every ratio of losses large."""
    epochs = np.arange(50.0)
    run = make.run(
        {
            "train/loss": 0.007 + 0.8 * np.exp(-epochs / 3),
            "val/loss": 0.14 + 0.7 * np.exp(-epochs / 3),
            "val/accuracy": accuracy - 0.3 * np.exp(-epochs / 3),
        }
    )
    outcome = judged(validation_gap_grows, run)
    assert outcome.status == "fired"
    assert outcome.evidence[0].severity == severity


@pytest.mark.parametrize(("improves", "severities"), [(True, {"low"}), (False, {"high", "medium"})])
def test_a_rise_next_to_a_score_that_improves_is_low(improves: bool, severities: set[str]) -> None:
    epochs = np.arange(40.0)
    score = 0.6 + 0.3 * (1 - np.exp(-epochs / 12)) if improves else 0.8 - 0.2 * np.exp(-epochs / 3)
    run = make.run(
        {
            "train/loss": 1.5 * np.exp(-epochs / 8),
            "val/loss": 0.6 + 0.9 * np.exp(-epochs / 3) + 0.01 * np.maximum(epochs - 12, 0),
            "val/accuracy": score,
        }
    )
    outcome = judged(validation_gap_grows, run)
    assert outcome.status == "fired"
    assert {e.severity or "medium" for e in outcome.evidence} <= severities


@pytest.mark.parametrize(
    ("seconds", "status"), [([85.0, 142.0, 202.0], "fired"), ([85.0, 202.0, 170.0], "clear")]
)
def test_three_times_that_double_creep(seconds: list[float], status: str) -> None:
    assert judged(step_time_creeps, make.run({"time/step": seconds})).status == status


@pytest.mark.parametrize(("bad", "severity"), [((0, 3), "medium"), ((3,), "low")])
def test_gradients_that_fail_again_and_again_are_no_search_for_a_scale(
    bad: tuple[int, ...], severity: str
) -> None:
    norm = np.linspace(0.5, 1.0, 10)
    norm[list(bad)] = np.nan
    norm[7] = np.nan if len(bad) > 1 else norm[7]
    outcome = judged(
        gradient_not_finite, make.run({"grad_norm": norm, "train/loss": np.linspace(0.2, 0.1, 10)})
    )
    assert [e.severity for e in outcome.evidence] == [severity]


def test_a_loss_that_froze_after_one_step_differs_from_one_that_never_moved() -> None:
    froze = judged(loss_flat_from_start, make.run({"train/loss": [5.7178, *[5.7257] * 11]}))
    never = judged(loss_flat_from_start, make.run({"train/loss": [5.7257] * 12}))
    assert "froze" in froze.evidence[0].aspects
    assert "never-moved" in never.evidence[0].aspects


def test_a_number_that_is_never_on_the_scale_is_another_number() -> None:
    """`d_kernel_map = 512` is no mean average precision; an accuracy that leaves its scale is impossible."""
    assert judged(metric_constant_or_impossible, make.run({"val/d_kernel_map": [512.0]})).status == "clear"
    judgement = judged(metric_constant_or_impossible, make.run({"val/accuracy": [0.4, 0.6, 140.0]}))
    assert judgement.status == "fired"


@pytest.mark.parametrize(
    ("losses", "severity"),
    [((4.1, 1.5e7, 1.5e7), "high"), ((4.1, 20.0, 20.0), None), ((4.1, 4.0, 12.0, 12.5), "medium")],
)
def test_three_points_show_a_jump_if_it_is_a_large_one(
    losses: tuple[float, ...], severity: str | None
) -> None:
    found = judged(loss_diverges, make.run({"train/loss": list(losses)}))
    assert [e.severity for e in found.evidence] == ([severity] if severity else [])


@pytest.mark.parametrize(("end", "status"), [(0.0138, "clear"), (0.138, "fired")])
def test_a_ratio_of_two_losses_near_zero_is_no_gap(end: float, status: str) -> None:
    """Both came down from 0.35: of that way, the first leaves 3 %, and the second 37 %."""
    way = 0.35 * 0.4 ** np.arange(10)
    run = make.run({"train/loss": way + 0.00126, "val/loss": way + end})
    assert judged(validation_gap_grows, run).status == status


@pytest.mark.parametrize(
    ("loss", "status"),
    [
        (
            [1.02, 0.91, 0.9, 0.95, 1.28, 1.35, 0.0, 0.0, 0.0],
            "fired",
        ),  # half precision, or NaN that is printed as 0
        ([1.02, 0.91, 0.9, 0.95, 1.28, 1.35, 0.0, 0.0, 0.4], "clear"),  # it comes back
        ([1.02, 0.41, 0.12, 0.04, 0.02, 0.01, 0.0, 0.0, 0.0], "clear"),  # printed with two digits
        ([1.02, 0.0, 0.9, 0.0, 1.28, 1.35, 0.0, 0.0, 0.0], "clear"),  # a hinge loss of single batches
        ([1.02, 0.91, 0.9, 0.95, 1.28, 1.35, 1.2, 0.0, 0.0], "clear"),  # too few to tell
    ],
)
def test_a_loss_that_drops_to_zero_at_once_is_not_learned(loss: list[float], status: str) -> None:
    run = make.run({"train/loss": np.array(loss)})
    assert judged(metric_constant_or_impossible, run).status == status
