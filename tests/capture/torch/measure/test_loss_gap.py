"""The loss with and without quantization, compared with both computed by hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from traindx.capture.torch.measure.quantized.loss_gap import LossGap, without_fake_quantization  # noqa: E402
from traindx.capture.torch.measure.quantized.weights import Quantized  # noqa: E402


class Rounded(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        w = self.weight
        return functional.linear(x, w + ((4 * w).round() / 4 - w).detach(), self.bias)


def looked(model: nn.Module, x: torch.Tensor) -> Quantized:
    """What is known after a pass of the model."""
    quantized = Quantized(lambda parameter: "layer", lambda place, error: pytest.fail(f"{place}: {error}"))
    quantized.arm([model], 8)
    model(x)
    quantized.disarm()
    return quantized


@pytest.mark.parametrize("classes", [True, False])
def test_the_gap_is_the_difference_of_two_losses(classes: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(Rounded(10, 40), nn.BatchNorm1d(40), nn.Dropout(0.3), nn.Linear(40, 4))
    x = torch.randn(16, 10)
    y = torch.randint(0, 4, (16,)) if classes else torch.randn(16, 4)
    loss_of = functional.cross_entropy if classes else functional.mse_loss
    quantized = looked(model, x)
    before = [t.clone() for t in model.state_dict().values()], torch.random.get_rng_state()
    gap = LossGap(quantized.unquantized)
    with torch.random.fork_rng():
        trained = loss_of(model(x), y)
    for buffer, value in zip(model.state_dict().values(), before[0], strict=True):
        buffer.copy_(value)
    with torch.random.fork_rng(), torch.no_grad():
        layer = nn.Linear(10, 40)
        layer.load_state_dict(model[0].state_dict())
        torch.random.set_rng_state(before[1])
        expected = float(trained) - float(loss_of(nn.Sequential(layer, *model[1:])(x), y))
    model.load_state_dict(dict(zip(model.state_dict(), before[0], strict=True)))
    gap.record(model, (x,), {}, 8)
    gap.call.record_targets(y)
    gap.record_loss(trained, 1.0)
    assert gap.measure(8) == {"quant/loss_gap": pytest.approx(expected, rel=1e-4)}
    assert expected != 0
    assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), before[0], strict=True))
    assert torch.equal(torch.random.get_rng_state(), before[1])
    assert model.training


@contextmanager
def nothing() -> Iterator[list[Any]]:
    yield []


def test_no_gap_is_reported_where_the_loss_is_another_one() -> None:
    torch.manual_seed(0)
    model, x, y = nn.Linear(4, 3), torch.randn(8, 4), torch.randint(0, 3, (8,))
    gap = LossGap(nothing)
    gap.record(model, (x,), {}, 8)
    gap.call.record_targets(y)
    gap.record_loss(2 * functional.cross_entropy(model(x), y), 1.0)
    assert gap.measure(8) == {}
    assert "recomputed" in gap.refused


def test_fake_quantize_modules_let_everything_pass_meanwhile() -> None:
    torch.manual_seed(0)
    fake = torch.ao.quantization.FakeQuantize(quant_min=-4, quant_max=3, dtype=torch.qint8)
    model, x = nn.Sequential(fake), torch.randn(30)
    assert not torch.equal(model(x), x)
    with without_fake_quantization(model) as were_on:
        assert were_on
        assert torch.equal(model(x), x)
    assert not torch.equal(model(x), x)
