"""Modes of dropout and normalization, in training and in evaluation."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import traindx  # noqa: E402
from traindx.capture.torch.measure.reruns.train_and_eval import TrainAndEval  # noqa: E402


def test_evaluating_and_training_in_the_wrong_mode(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3)).eval()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path):
        for _ in range(4):
            model(torch.randn(4, 6)).sum().backward()
            optimizer.step()
        model.train()
        with torch.no_grad():
            model(torch.randn(4, 6))
    setup = traindx.read(tmp_path).setup
    assert setup.number("steps_in_eval_mode_share") == 1
    assert setup.flag("model_training_mode_during_backward") is False
    assert setup.number("validation_in_train_mode_share") == 1


@pytest.mark.parametrize(("evaluates", "share"), [(True, 0.0), (False, 1.0)])
def test_an_evaluation_with_gradients_is_no_training(tmp_path: Path, evaluates: bool, share: float) -> None:
    """Loops on graphs evaluate the whole graph after each step, without `no_grad`."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.5), nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path):
        for _ in range(6):
            model.train(evaluates)
            model(torch.randn(4, 6)).sum().backward()
            optimizer.step()
            model.eval()
            float(model(torch.randn(9, 6)).sum())
    setup = traindx.read(tmp_path).setup
    assert setup.number("steps_in_eval_mode_share") == share
    assert setup.batch_size == 4


@pytest.mark.parametrize(
    ("layer", "matters"),
    [(nn.Dropout(0.1), True), (nn.BatchNorm1d(8), True), (nn.Dropout(0.0), False), (nn.LayerNorm(8), False),
     (nn.BatchNorm1d(8, track_running_stats=False), False), (nn.InstanceNorm1d(8), False)],
)  # fmt: skip
def test_the_mode_of_an_evaluation_is_recorded_where_it_matters(
    tmp_path: Path, layer: nn.Module, matters: bool
) -> None:
    model = nn.Sequential(nn.Linear(6, 8), layer, nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with traindx.watch(model, optimizer, out=tmp_path):
        model(torch.randn(4, 6)).sum().backward()
        optimizer.step()
        with torch.no_grad():
            model(torch.randn(4, 6))
    share = traindx.read(tmp_path).setup.number("validation_in_train_mode_share")
    assert share == (1 if matters else None)


def asked(model: nn.Module, batch: Any) -> dict[str, Any]:
    modes = TrainAndEval()
    modes.record(model, (batch,), {})
    return modes.facts()


def test_what_dropout_does_to_the_outputs() -> None:
    """Dropout of p leaves 0 or x / (1 - p): the outputs' square grows to 1 / (1 - p) of x, and moves by p / (1 - p)."""
    torch.manual_seed(0)
    share = asked(nn.Sequential(nn.Dropout(0.25)), torch.ones(400, 100))
    assert share == {"mode_effect": pytest.approx(0.5, abs=0.01)}


def test_what_running_statistics_do_to_the_outputs() -> None:
    """Statistics of the start (0 and 1) leave a batch of mean 3 and deviation 1 as it is; its own move it by 3."""
    batch = torch.randn(64, 1)
    batch = (batch - batch.mean()) / batch.std(correction=0) + 3
    layer = nn.Sequential(nn.BatchNorm1d(1, momentum=0.0), nn.Dropout(1e-9))
    share = asked(layer, batch)
    assert share["statistics_effect"] == pytest.approx((9 / 10) ** 0.5, abs=1e-4)
    assert share["mode_effect"] == pytest.approx((9 / 10) ** 0.5, abs=1e-3)


def test_a_frozen_layer_stays_in_evaluation_mode() -> None:
    model = nn.Sequential(nn.BatchNorm1d(4), nn.Dropout(0.5))
    model[0].eval()
    assert set(asked(model, torch.randn(8, 4) + 5)) == {"mode_effect"}


def test_the_loss_in_both_modes_is_that_of_outputs_and_targets() -> None:
    """Cross-entropy of logits that dropout changes and of those that it does not, next to the first loss logged."""
    torch.manual_seed(1)
    model = nn.Sequential(nn.BatchNorm1d(3, momentum=0.0))
    batch, targets = 4 * torch.randn(32, 3) + 2, torch.randint(0, 3, (32,))
    normalized = (batch - batch.mean(0)) / (batch.var(0, correction=0) + 1e-5).sqrt()
    modes = TrainAndEval()
    for factor in (2.0, 5.0):
        modes.record_loss(nn.functional.cross_entropy(model(batch), targets), factor)
    modes.record(model, (batch,), {})
    modes.call.record_targets(targets)
    share = modes.facts()
    expected = [nn.functional.cross_entropy(x, targets).item() for x in (normalized, batch, normalized)]
    assert share["modes_loss_train"] == pytest.approx(expected[0], abs=1e-4)
    assert share["modes_loss_eval"] == pytest.approx(expected[1], abs=1e-3)
    assert share["modes_loss_first"] == pytest.approx(2 * expected[2], abs=1e-3)


@pytest.mark.parametrize(
    "loss",
    [lambda out, to: 2 * nn.functional.cross_entropy(out, to),
     lambda out, to: nn.functional.cross_entropy(out, to, reduction="sum"),
     lambda out, to: nn.functional.cross_entropy(out, to, weight=torch.ones(3)),
     lambda out, to: nn.functional.cross_entropy(out, to, label_smoothing=0.1)],
)  # fmt: skip
def test_a_loss_of_another_kind_is_not_made_up(loss: Any) -> None:
    model, batch, targets = (
        nn.Sequential(nn.Dropout(0.5)),
        torch.randn(8, 3, requires_grad=True),
        torch.arange(8) % 3,
    )
    modes = TrainAndEval()
    modes.record_loss(loss(model(batch), targets), 1.0)
    modes.record(model, (batch,), {})
    modes.call.record_targets(targets)
    assert set(modes.facts()) == {"mode_effect"}


class Remembers(nn.Module):
    """Draws in all three ways, and keeps what it saw in attributes and in a buffer that is made anew."""

    def __init__(self) -> None:
        super().__init__()
        self.calls, self.seen, self.drop = 0, None, nn.Dropout(0.5)
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, batch: Any) -> Any:
        self.calls, self.seen, self.mean = self.calls + 1, batch, self.mean + batch.mean(0)
        self.late = random.random() + float(np.random.rand())
        return self.drop(batch) * (1 + self.late)


def test_model_and_random_states_are_left_as_they_were() -> None:
    model = Remembers()
    states = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].tolist()
    model.drop.eval()
    model.train(False)
    assert asked(model, torch.ones(4, 3))["mode_effect"] > 0
    assert (model.calls, model.seen, model.training, hasattr(model, "late")) == (0, None, False, False)
    assert torch.equal(model.mean, torch.zeros(3))
    assert "mean" in model._buffers
    assert torch.equal(torch.get_rng_state(), states[0])
    assert (random.getstate(), np.random.get_state()[1].tolist()) == states[1:]


def test_the_effect_of_the_mode_is_asked_when_a_recording_ends(tmp_path: Path) -> None:
    for name, layer in (("drops", nn.Dropout(0.5)), ("passes", nn.LayerNorm(8))):
        model = nn.Sequential(nn.Linear(6, 8), layer, nn.Linear(8, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with traindx.watch(model, optimizer, out=tmp_path / name):
            for _ in range(3):
                model(torch.randn(16, 6)).square().sum().backward()
                optimizer.step()
    assert 0.05 < (traindx.read(tmp_path / "drops").setup.number("mode_effect") or 0) <= 1
    assert traindx.read(tmp_path / "passes").setup.number("mode_effect") is None


def test_both_passes_draw_the_same_numbers() -> None:
    """Random numbers drawn in Python show no mode."""
    model = Remembers()
    model.drop.p = 1e-9
    assert asked(model, torch.ones(4, 3))["mode_effect"] < 1e-3


def test_a_model_that_cannot_be_called_again_is_reported() -> None:
    class Once(Remembers):
        def forward(self, batch: Any) -> Any:
            raise RuntimeError("no more data")

    assert asked(Once(), torch.ones(4, 3)) == {
        "mode_not_checked": "the model could not be called: RuntimeError"
    }
