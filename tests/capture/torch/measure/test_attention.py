"""Attention logits: against those computed by hand, for each way in which attention is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import traindx  # noqa: E402
from traindx.capture.torch.measure.by_pass.attention import ROWS, Observer, largest_logit  # noqa: E402


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.5])
def test_of_all_heads_of_one_sample(causal: bool, scale: float | None) -> None:
    query, key = torch.randn(3, 2, 20, 8), torch.randn(3, 2, 20, 8)
    logits = query @ key.transpose(-1, -2) * (8**-0.5 if scale is None else scale)
    if causal:
        logits = logits.masked_fill(torch.ones(20, 20).triu(1).bool(), -torch.inf)
    for turn in range(4):
        found = largest_logit(query, key, None, causal, scale, turn)
        assert float(found) == pytest.approx(float(logits[turn % 3].max()), rel=1e-5)


def test_masks_and_shared_keys() -> None:
    query, key = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 6, 8)
    logits = query @ key.repeat_interleave(2, 1).transpose(-1, -2) * 8**-0.5
    assert float(largest_logit(query, key, None, False, None, 0)) == pytest.approx(float(logits.max()))
    allowed = torch.zeros(6, 6, dtype=torch.bool)
    allowed[2, 4] = True
    assert float(largest_logit(query, key, allowed, False, None, 0)) == pytest.approx(
        float(logits[0, :, 2, 4].max())
    )
    added = torch.zeros(6, 6)
    added[1, 3] = 100.0
    assert float(largest_logit(query, key, added, False, None, 0)) == pytest.approx(
        float(logits[0, :, 1, 3].max() + 100)
    )


def test_a_long_sequence_is_read_in_part() -> None:
    query = torch.randn(2, 1, 10 * ROWS, 4)
    found = float(largest_logit(query, query, None, False, None, 0))
    whole = float((query[0] @ query[0].transpose(-1, -2)).max() * 0.5)
    assert 0.3 * whole < found <= whole + 1e-5


class ByHand(nn.Module):
    """Attention written out, with a softmax as a method."""

    def __init__(self) -> None:
        super().__init__()
        self.mix = nn.Linear(8, 24)
        self.seen: list[float] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.mix(x).reshape(len(x), -1, 3, 2, 4).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 2
        self.seen.append(float(scores.detach().max()))
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Fused(ByHand):
    """The same, fused."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.mix(x).reshape(len(x), -1, 3, 2, 4).permute(2, 0, 3, 1, 4)
        self.seen.append(float((q @ k.transpose(-1, -2) / 2).detach().max()))
        return functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


class Classifier(nn.Module):
    def __init__(self, attend: nn.Module) -> None:
        super().__init__()
        self.attend, self.out = attend, nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = self.attend(x, x, x)[0] if isinstance(self.attend, nn.MultiheadAttention) else self.attend(x)
        return self.out(found.mean(1)).softmax(-1)  # a softmax of classes is none of attention


def recorded(attend: nn.Module, out: Path | None, before: Any = lambda: None) -> tuple[Any, Classifier]:
    torch.manual_seed(2)
    net = Classifier(attend)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)

    def train(log: Any) -> None:
        for _ in range(6):
            optimizer.zero_grad()
            loss = (net(torch.randn(1, 5, 8))[:, 0] - 1).square().mean()
            before()
            loss.backward()
            log(loss)
            optimizer.step()

    if out is None:
        train(lambda loss: None)
        return None, net
    with traindx.watch(net, optimizer, out=out, every=1) as watch:
        train(lambda loss: watch.log(loss=loss))
    return traindx.read(out), net


@pytest.mark.parametrize("kind", [ByHand, Fused])
def test_attention_written_out_and_fused(kind: type[ByHand], tmp_path: Path) -> None:
    original = (
        functional.scaled_dot_product_attention,
        torch.Tensor.softmax,
        torch.softmax,
        functional.softmax,
    )
    torch.manual_seed(1)
    run, net = recorded(kind(), tmp_path)
    panel = run.panels["attention_logit_max"]
    assert panel.modules == ("attend",)
    at = [int(step) - 1 for step in panel.steps]
    np.testing.assert_allclose(panel.values[:, 0], [net.attend.seen[i] for i in at], rtol=1e-5)
    assert len(at) >= 5
    now = functional.scaled_dot_product_attention, torch.Tensor.softmax, torch.softmax, functional.softmax
    assert all(a is b for a, b in zip(original, now, strict=True))
    assert "softmax" not in vars(torch.Tensor)
    torch.manual_seed(1)
    _, other = recorded(kind(), None)
    assert all(
        torch.equal(a, b)
        for a, b in zip(net.state_dict().values(), other.state_dict().values(), strict=True)
    )


@pytest.mark.parametrize("weights", [True, False], ids=["with weights", "fused"])
def test_multihead_attention(weights: bool, tmp_path: Path) -> None:
    attend = nn.MultiheadAttention(8, 2, batch_first=True)
    attend.register_forward_pre_hook(lambda m, a, k: (a, {**k, "need_weights": weights}), with_kwargs=True)
    run, _ = recorded(attend, tmp_path)
    panel = run.panels["attention_logit_max"]
    assert panel.modules == ("attend",)
    assert (np.abs(panel.values) < 100).all()
    assert not [e for e in run.events if e.code == "capture-failed"]


def test_nothing_is_wrapped_where_something_else_wrapped_it(tmp_path: Path) -> None:
    """A function put there by someone else while a pass is measured stays there."""
    kept = functional.scaled_dot_product_attention

    def others(*args: Any, **named: Any) -> Any:
        return kept(*args, **named)

    def put() -> None:
        functional.scaled_dot_product_attention = others

    try:
        recorded(Fused(), tmp_path, put)
        assert functional.scaled_dot_product_attention is others
    finally:
        functional.scaled_dot_product_attention = kept


def test_a_failure_is_said_once_and_lets_go(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[str] = []
    attention = Observer(lambda where, error: failures.append(where))
    net = Classifier(Fused())

    def broken(*args: Any) -> Any:
        raise ValueError("broken")

    monkeypatch.setattr("traindx.capture.torch.measure.by_pass.attention.largest_logit", broken)
    for _ in range(3):
        attention.arm([("", net)])
        net(torch.randn(2, 5, 8))
        attention.disarm()
    assert failures == ["attention"]


def test_models_without_attention_are_left_alone() -> None:
    attention = Observer(lambda where, error: None)
    armed = []
    for _ in range(6):
        attention.arm([("", nn.Linear(2, 2))])
        armed.append(attention.functions.armed)
        attention.disarm()
    assert armed == [True, True, True, False, False, False]
