"""Whether a recorded run is harmed, by what it achieved: with the same findings in runs that work and in runs that
do not."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.causes.made import fired
from tests.causes.verdict.test_decision import recorded, verdict
from tests.reports.made import finding
from traindx import pipeline
from traindx.causes import decide, without_harm
from traindx.causes.grades.answers import val_over_train
from traindx.causes.verdict.harm import falls_short, is_calibrated, is_good, without_alarm
from traindx.features.shared import Features
from traindx.rules.findings import findings
from traindx.vocabulary.diagnosis import Health, Hypothesis
from traindx.vocabulary.rule import Outcome
from traindx.vocabulary.run import Run

LIKELY = {"double-softmax": 0.9, "healthy": 0.1}
SOFTMAX = ("probabilities-fed-to-cross-entropy", "ARC006")
SORTED = ("batches-sorted-by-class", "DAT006")
CONSTANT = ("inputs-have-constant-features", "DAT014")
LEAK = ("train-and-validation-overlap", "DAT011")


def seen(finding: tuple[str, str], severity: str = "high") -> Outcome:
    return fired(finding[0], severity=severity, code=finding[1])


def trained(
    accuracy: float, entropy: float = 0.05, facts: dict[str, str] | None = None, **more: float
) -> Run:
    """A run whose outputs are right for this share of the samples at the end."""
    ends = {"outputs_accuracy": accuracy, "outputs_cross_entropy": entropy, **more}
    spread = np.linspace(0, 199, 13).round()
    curves = {name: (spread, np.array([0.1] + [value] * 12)) for name, value in ends.items()}
    return recorded(facts, train__loss=make.healthy_loss(200), **curves)


@pytest.mark.parametrize(
    ("finding", "more", "health"),
    [
        (SOFTMAX, {}, "healthy"),
        (SOFTMAX, {"val__accuracy": 0.95}, "healthy"),
        (SOFTMAX, {"val__accuracy": 0.5}, "sick"),  # it does not carry over
        (SORTED, {"val__accuracy": 0.95}, "healthy"),
        (SORTED, {}, "sick"),  # only other samples would show the harm
        (CONSTANT, {}, "healthy"),  # the training samples would show the harm
        (LEAK, {"val__accuracy": 0.95}, "sick"),  # the good score is the harm
    ],
)
def test_a_cause_is_a_note_where_the_model_works(
    finding: tuple[str, str], more: dict[str, float], health: str
) -> None:
    assert verdict(trained(0.98, **more), LIKELY, seen(finding)) == health
    assert verdict(trained(0.6, **more), LIKELY, seen(finding)) == "sick"


@pytest.mark.parametrize(("aspect", "healthy"), [("padding", False), ("beyond", True)])
def test_a_score_that_counts_padding_excuses_nothing(aspect: str, healthy: bool) -> None:
    """Four fifths of such an accuracy may be the ends of sequences."""
    found = fired(f"labels-ill-formed:{aspect}", severity="high", code="DAT019")
    assert (verdict(trained(0.98), LIKELY, found) == "healthy") == healthy


@pytest.mark.parametrize(
    ("began", "end", "health"),
    [
        (2.0, 0.06, "healthy"),  # as good as in training
        (2.3, 0.55, "sick"),  # far above the training loss
        (90.0, 0.55, "sick"),  # however far it fell: its first loss was that of other inputs
        (2.3, 2.3, "sick"),
    ],
)
def test_other_validation_inputs_are_harm_where_the_validation_loss_is_poor(
    began: float, end: float, health: str
) -> None:
    """The last part of a line, say, where a fitted line is as right as in the first."""
    fall = np.linspace(0, 1, 60) ** 0.2
    loss = 2.3 * np.exp(-np.arange(200) / 20) + 0.02
    curves = {"train__loss": loss, "val__loss": began + (end - began) * fall}
    spread = np.linspace(0, 199, 13).round()
    run = recorded(outputs_explained=(spread, np.array([0.1] + [0.98] * 12)), **curves)
    shifted = seen(("validation-distribution-differs", "DAT011"))
    causes = {"val-preprocessing-mismatch": 0.6, "healthy": 0.3}
    assert verdict(run, causes, shifted) == health


def test_a_curve_that_fails_is_harm_whatever_the_outputs() -> None:
    assert verdict(trained(0.98), LIKELY, seen(("loss-oscillates", "LOS009"))) == "sick"
    spikes = seen(("loss-spikes-recur", "LOS010"))
    assert verdict(trained(0.98), LIKELY, spikes) == "healthy"  # it came back each time
    assert verdict(trained(0.6), LIKELY, spikes) == "sick"
    gap = seen(("validation-gap-grows", "GEN001"), "medium")
    assert verdict(trained(0.98, val__accuracy=0.97), {"healthy": 0.95}, gap) == "healthy"
    assert verdict(trained(0.98, val__accuracy=0.97), {"healthy": 0.6}, gap) == "watch"


def test_accuracy_counts_from_the_most_frequent_class() -> None:
    rare = {"reference_trivial_accuracy": "0.95"}
    assert verdict(trained(0.96, facts=rare), LIKELY, seen(SOFTMAX)) == "sick"
    assert verdict(trained(0.999, facts=rare), LIKELY, seen(SOFTMAX)) == "healthy"


def test_right_answers_with_poor_probabilities_are_watched() -> None:
    assert verdict(trained(0.98, entropy=0.6), LIKELY, seen(SOFTMAX)) == "watch"
    assert verdict(trained(0.98, entropy=0.6), {"healthy": 0.9}, seen(SOFTMAX)) == "healthy"


def test_a_loss_that_still_falls_has_not_levelled_off() -> None:
    """A run that was ended early: to go on is all that it needs."""
    run = recorded(train__loss=np.linspace(3.0, 2.4, 150))
    high = seen(("losses-stay-high", "GEN002"), "medium")
    slow = {"learning-rate-too-low": 0.5, "undertrained": 0.33, "healthy": 0.05}
    assert verdict(run, slow, high) == "sick"
    assert verdict(run, slow, high, seen(("loss-still-falling-at-end", "LOS012"), "info")) == "watch"
    other = {"misaligned-labels": 0.6, "healthy": 0.05}
    assert verdict(run, other, high, seen(("loss-still-falling-at-end", "LOS012"), "info")) == "sick"


@pytest.mark.parametrize(("explained", "health"), [(0.8, "healthy"), (0.4, "watch")])
def test_a_net_on_its_way_need_not_be_as_good_as_its_neighbours(explained: float, health: str) -> None:
    """Four fifths of what the nearest neighbours explain, and most of the loss is gone."""
    facts = {f"reference_{name}_explained": str(value) for name, value in
             (("trivial", 0.0), ("linear", 0.0), ("neighbours", 1.0))}  # fmt: skip
    spread = np.linspace(0, 199, 13).round()
    curve = (spread, np.array([0.0] + [explained] * 12))
    run = recorded(
        {**facts, "reference_samples_held": "400", "loss": "mse_loss", "targets_std": "1.0"},
        train__loss=make.healthy_loss(200), outputs_explained=curve,
    )  # fmt: skip
    assert verdict(run, {"healthy": 0.35, "undertrained": 0.25, "insufficient-capacity": 0.1}) == health


@pytest.mark.parametrize(
    ("loss", "strongest", "health"), [("", 3.4, "watch"), ("", 2.0, "healthy"), ("mse_loss", 3.4, "healthy")]
)
def test_an_extreme_setting_is_watched_where_no_number_shows_its_cost(
    loss: str, strongest: float, health: str
) -> None:
    """A weight decay of 1 in a diffusion model, whose loss ends at 1.2 instead of 0.8, and falls either way."""
    run = recorded({"loss": loss}, train__loss=make.healthy_loss(300) + 1)
    causes = {"healthy": 0.5, "weight-decay-too-high": 0.4}
    assert verdict(run, causes, strongest=strongest) == health


@pytest.mark.parametrize(("dropout", "ahead"), [("0.1", 0.2), ("0.5", 0.0)])
def test_validation_is_not_ahead_of_what_dropout_takes_away(dropout: str, ahead: float) -> None:
    run = trained(0.7, facts={"dropout": dropout}, val__accuracy=0.9)
    assert val_over_train(run, Features(run)) == pytest.approx(ahead, abs=1e-6)


@pytest.mark.parametrize(("entropy", "calibrated"), [(0.3, True), (0.6, False)])
def test_the_loss_that_an_accuracy_allows(entropy: float, calibrated: bool) -> None:
    run = trained(0.92, entropy=entropy)
    assert is_calibrated(run, Features(run)) == calibrated


@pytest.mark.parametrize(("accuracy", "short"), [(0.3, True), (0.8, False)])
def test_most_of_what_simple_predictors_reach_is_missing(accuracy: float, short: bool) -> None:
    facts = {f"reference_{name}_accuracy": str(value) for name, value in
             (("trivial", 0.1), ("linear", 0.9), ("neighbours", 0.85))}  # fmt: skip
    curves = {"train__loss": make.healthy_loss(200), "outputs_accuracy": np.full(200, accuracy)}
    run = recorded({**facts, "reference_samples_held": "400"}, **curves)
    assert (falls_short(run, Features(run)) is not None) == short
    assert verdict(run, {"healthy": 0.9}) == ("watch" if short else "healthy")


@pytest.mark.parametrize(
    ("loss", "health"),
    [([0.5, 1e-3, 3e-4], "healthy"), ([0.5, 0.4, 0.3], "watch"), ([0.5, 1e-4, 3e-4], "watch")],
)
def test_three_points_are_enough_where_the_loss_all_but_vanishes(loss: list[float], health: str) -> None:
    """L-BFGS makes few steps."""
    assert verdict(recorded(train__loss=loss), {"healthy": 0.24, "undertrained": 0.21}) == health


@pytest.mark.parametrize("name", ["train/reward", "train/score"])
@pytest.mark.parametrize(
    ("reward", "health"), [(np.linspace(10, 100, 200), "healthy"), (np.full(200, 10.0), "watch")]
)
def test_an_agent_whose_rewards_rise_has_no_harm(reward: np.ndarray, health: str, name: str) -> None:
    noise = np.random.default_rng(0).standard_normal(200)
    curves = {name.replace("/", "__"): reward + noise, "train__loss": make.healthy_loss(200)}
    run = recorded({"simulator": "gymnasium"}, **curves)
    assert Features(run).objective_name == name
    assert verdict(run, {"unnormalized-inputs": 0.95, "healthy": 0.05}) == health


def test_the_score_of_a_classifier_is_no_reward() -> None:
    run = recorded(train__score=np.linspace(0.1, 0.9, 200), train__loss=make.healthy_loss(200))
    assert Features(run).objective_name == "train/loss"


@pytest.mark.parametrize(
    ("loss", "more", "health"),
    [
        (make.healthy_loss(300, floor=0.01), {}, "healthy"),
        (make.healthy_loss(300, floor=0.01), {"val__accuracy": 0.3}, "sick"),
        (np.linspace(2.3, 2.2, 300), {}, "sick"),
    ],
)
def test_a_small_data_set_is_no_harm_by_itself(
    loss: np.ndarray, more: dict[str, float], health: str
) -> None:
    curves = {name: np.full(30, value) for name, value in more.items()}
    run = recorded(train__loss=loss, **curves)
    assert verdict(run, {"too-little-data": 0.9, "healthy": 0.1}) == health


@pytest.mark.parametrize(("end", "health"), [(1.5, "healthy"), (2.25, "watch")])
def test_a_net_that_comes_closer_needs_one_probable_fault(end: float, health: str) -> None:
    """A third of the loss is gone, which is not yet good. Many faults that are each unlikely are no harm."""
    noise = 0.02 * np.random.default_rng(0).standard_normal(300)
    run = recorded(train__loss=np.linspace(2.3, end, 300) + noise)
    spread = {"misaligned-labels": 0.2, "batch-too-small": 0.16, "healthy": 0.1, "wrong-loss": 0.09}
    assert verdict(run, spread) == health
    assert verdict(run, {"misaligned-labels": 0.9, "healthy": 0.1}) != "healthy"
    few = recorded(train__loss=(run.series["train/loss"].values[::5]))
    assert verdict(few, spread) == health  # what was reached counts, however few the steps


@pytest.mark.parametrize(
    ("loss", "rate", "health"), [("", 0.0, "healthy"), ("", 1.0, "watch"), ("mse", 0.0, "watch")]
)
def test_a_loss_without_a_known_zero_is_judged_by_its_noise(loss: str, rate: float, health: str) -> None:
    """A likelihood of many numbers falls by two parts in a hundred, far beyond its noise, or not at all."""
    noise = np.random.default_rng(0).standard_normal(300)
    level = 1120 - 24 * (1 - rate) * np.linspace(0, 1, 300) ** 0.5
    spread = {"undertrained": 0.3, "deep-without-skip-or-norm": 0.2, "healthy": 0.1, "wrong-loss": 0.1}
    assert verdict(recorded({"loss": loss}, train__loss=level + noise), spread) == health


def test_a_score_of_the_beginning_is_no_score_of_the_end() -> None:
    """A recording that was over its budget measured the outputs of the first steps only."""
    loss, accuracy = make.healthy_loss(200), [0.1] + [0.98] * 12
    lost = recorded(train__loss=np.r_[loss, loss[0] + loss], outputs_accuracy=accuracy)
    kept = recorded(train__loss=loss, outputs_accuracy=accuracy)
    for run, good in ((lost, False), (kept, True), (trained(0.98), True)):
        assert is_good(run, Features(run)) == good


@pytest.mark.parametrize(
    ("cause", "more", "health"),
    [
        ("detached-graph", {}, "healthy"),
        ("params-not-in-optimizer", {}, "watch"),  # it would be better if all of it were trained
        ("learning-rate-schedule-fault", {}, "watch"),  # or for the whole run
        ("stale-normalization-statistics", {}, "watch"),  # only other samples would show it
        ("stale-normalization-statistics", {"val__accuracy": 0.84}, "watch"),
        ("stale-normalization-statistics", {"val__accuracy": 0.95}, "healthy"),
        ("class-imbalance", {"val__accuracy": 0.95}, "watch"),  # accuracy hides the rare classes
    ],
)
def test_a_good_score_excuses_what_it_would_show(cause: str, more: dict[str, float], health: str) -> None:
    assert verdict(trained(0.98, **more), {cause: 0.99, "healthy": 0.01}) == health


@pytest.mark.parametrize(
    ("device", "frozen", "first", "health"),
    [
        ("cpu", 0.35, "frozen-parameters", "watch"),
        ("cpu", 0.02, "healthy", "healthy"),
        ("cuda:0", 0.35, "data-loader-bottleneck", "sick"),
    ],
)
def test_lost_time_hides_no_other_fault(device: str, frozen: float, first: str, health: str) -> None:
    """Whether time is lost on a processor and what is wrong with the learning are two questions."""
    run = recorded({"device": device}, train__loss=np.linspace(2.3, 1.5, 300))
    causes = {"data-loader-bottleneck": 0.63, "frozen-parameters": frozen, "healthy": 0.37 - frozen}
    outcomes = (fired("step-waits-for-data", severity="medium", code="SYS001"),)
    hypotheses = [Hypothesis(cause=c, title=c, probability=p) for c, p in causes.items()]
    found, features = findings(outcomes, run), Features(run)
    ranked = without_harm(found, hypotheses, outcomes, run, features)
    assert ranked[0].cause == first
    assert sum(h.probability for h in ranked) == pytest.approx(1)
    assert decide(found, ranked, outcomes, run, features)[0] == health


@pytest.mark.parametrize(("explained", "health"), [(-3.0, "watch"), (0.4, "healthy")])
def test_worse_than_the_mean_of_the_targets_is_not_healthy(explained: float, health: str) -> None:
    """Where the loss has levelled off."""
    spread = np.linspace(0, 199, 13).round()
    run = recorded(train__loss=make.healthy_loss(200), outputs_explained=(spread, np.full(13, explained)))
    level = seen(("loss-plateaus", "LOS004"), "low")
    assert verdict(run, {"healthy": 0.9}, level) == health
    assert verdict(run, {"healthy": 0.9}) == "healthy"  # it still learns


@pytest.mark.parametrize(("health", "severity"), [("healthy", "low"), ("watch", "high"), ("sick", "high")])
def test_a_healthy_run_has_no_finding_above_low(health: Health, severity: str) -> None:
    (weighed,) = without_alarm((finding("DAT001", "inputs-not-normalized", "high", None, "x"),), health)
    assert weighed.severity == severity


@pytest.mark.parametrize(("ends", "health"), [(0.76, "watch"), (0.61, "sick")])
def test_a_score_that_improves_contradicts_a_loss_that_stays_high(ends: float, health: str) -> None:
    noise = np.random.default_rng(0)
    scores = np.linspace(0.6, ends, 100) + noise.normal(0, 0.01, 100)
    losses = {
        f"{split}/loss": level + noise.normal(0, 0.005, 100)
        for split, level in (("train", 6.3), ("val", 6.49))
    }
    run = make.run({**losses, "val/f1": scores})
    judged = pipeline.diagnose(run).first
    assert [f.slug for f in judged.findings if f.severity == "medium"] == ["losses-stay-high"]
    assert judged.health == health
