"""Whether a run learns: on curves whose answer is known, and on trainings that were really recorded."""

from __future__ import annotations

import numpy as np
import pytest

from tests import make
from tests.captured import HEALTHY, captured
from traindx.features.curves.progress import is_learning, progress_severity
from traindx.features.shared import Features
from traindx.vocabulary.run import Panel, Run
from traindx.vocabulary.setup import Setup

FLAT = np.log(10) + 0.02 * make.rng(1).standard_normal(200)
PANEL = Panel(np.arange(2.0), ("fc",), np.ones((2, 1)))
LATE = np.linspace(0, 1, 20)  # progress of an accuracy

LEARNS: dict[str, Run] = {
    "a power law": make.run({"train/loss": make.healthy_loss()}),
    "hardly below the constant answer, and accurate": make.run(
        {"train/loss": np.linspace(2.3, 1.6, 200), "val/accuracy": 0.1 + 0.8 * LATE}
    ),
    "a reward that rises": make.run(
        {"train/reward": 5 * make.rng(2).standard_normal(300) + np.linspace(-200, 0, 300)}
    ),
    "a residual of an equation, whose target is always 0": make.run(
        {"train/loss": np.geomspace(0.5, 1e-4, 300)},
        setup=Setup(loss="mse_loss", facts={"targets_std": 0.0}),
    ),
    "below half of ln k": make.run(
        {"train/loss": np.full(100, 0.9)}, setup=Setup(classes=10, loss="cross_entropy")
    ),
}
FAILS: dict[str, Run] = {
    "flat": make.run({"train/loss": FLAT}),
    "NaN in the end": make.run({"train/loss": np.r_[make.healthy_loss(100), np.full(5, np.nan)]}),
    "rises": make.run({"train/loss": np.linspace(2.3, 5.0, 200)}),
    "falls from far above, to ln k": make.run(
        {"train/loss": np.r_[np.geomspace(900, 2.4, 50), FLAT]}, setup=Setup(classes=10)
    ),
    "falls to the variance of the targets": make.run(
        {"train/loss": np.r_[np.geomspace(900, 110, 50), np.full(100, 101.0)]},
        setup=Setup(loss="mse_loss", facts={"targets_std": 10.0}),
    ),
    "a sum over the batch, at ln k a sample": make.run(
        {"train/loss": np.r_[np.geomspace(900, 150, 50), 64 * FLAT]},
        setup=Setup(loss="cross_entropy", classes=10, batch_size=64, facts={"loss_reduction": "sum"}),
    ),
    "an accuracy that stays poor": make.run(
        {"train/loss": np.linspace(2.3, 2.0, 200), "val/accuracy": 0.1 + 0.1 * LATE}
    ),
}
UNCLEAR: dict[str, Run] = {
    "a sum whose batch is not known": make.run(
        {"train/loss": np.linspace(180, 140, 200)},
        setup=Setup(loss="cross_entropy", classes=10, facts={"loss_reduction": "sum"}),
    ),
    "grey targets, whose best loss is not zero": make.run(
        {"train/loss": np.linspace(0.70, 0.69, 200) + 1e-4 * make.rng(7).standard_normal(200)},
        setup=Setup(loss="binary_cross_entropy", classes=2, facts={"targets_binary": False}),
    ),
    "no objective": make.run({"lr": np.ones(50)}),
    "ten points": make.run({"train/loss": np.full(10, 2.3)}),
    "a fifth better": make.run({"train/loss": np.linspace(2.0, 1.6, 200)}),
    "accuracy on its way": make.run(
        {"train/loss": np.linspace(2.3, 1.7, 200), "val/accuracy": 0.1 + 0.35 * LATE}
    ),
}
BROKEN = ("rate_10", "rate_tiny", "deep_sigmoid", "deep_relu", "weights_zero", "dead_bias", "decay_1", "never_cleared",
          "nan_input", "no_step", "zeroed_early", "strangers", "raw_inputs")  # fmt: skip


@pytest.mark.parametrize(("fall", "learns"), [(24.0, True), (2.0, None), (0.0, False)])
def test_a_fall_of_a_likelihood_counts_against_its_noise(fall: float, learns: bool | None) -> None:
    """The level of a likelihood of many numbers means nothing: 3 % less can be all that there is to learn."""
    noise = make.rng(3).standard_normal(400)
    loss = 741 + fall * np.exp(-np.arange(400) / 60) + 0.5 * noise
    run = make.run({"train/loss": loss}, panels={"grad_norm": PANEL})
    assert is_learning(Features(run)) is learns
    known = make.run({"train/loss": loss}, panels={"grad_norm": PANEL}, setup=Setup(loss="mse_loss"))
    assert is_learning(Features(known)) is not True


@pytest.mark.parametrize("name", LEARNS)
def test_learns(name: str) -> None:
    assert is_learning(Features(LEARNS[name])) is True


@pytest.mark.parametrize("name", FAILS)
def test_does_not_learn(name: str) -> None:
    assert is_learning(Features(FAILS[name])) is False


@pytest.mark.parametrize("name", UNCLEAR)
def test_is_unclear(name: str) -> None:
    assert is_learning(Features(UNCLEAR[name])) is None


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_trainings_learn(name: str) -> None:
    assert is_learning(Features(captured(name))) is True


@pytest.mark.parametrize("name", BROKEN)
def test_broken_trainings_do_not(name: str) -> None:
    assert is_learning(Features(captured(name))) is False


def test_severity_follows_progress() -> None:
    cases = (("a power law", LEARNS, "info"), ("flat", FAILS, "high"), ("ten points", UNCLEAR, "low"))
    for name, table, expected in cases:
        assert (
            progress_severity(Features(table[name]), stuck="high", unknown="low", learns="info") == expected
        )
