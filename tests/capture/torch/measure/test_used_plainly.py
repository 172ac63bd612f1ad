"""Whether weights go into products as they are, from the graph of a loss."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from traindx.capture.torch.measure.loss.graph import are_used_unchanged  # noqa: E402


def rounded(w: Tensor) -> Tensor:
    return w + (w.sign() * w.abs().mean() - w).detach()


WAYS: dict[str, tuple[Callable[[Tensor, Tensor], Tensor], bool]] = {
    "a product": (lambda x, w: x @ w, True),
    "a linear layer": (lambda x, w: nn.functional.linear(x, w.T), True),
    "of sequences": (lambda x, w: x.reshape(3, 2, 4) @ w, True),
    "einsum": (lambda x, w: torch.einsum("nd,dk->nk", x, w), True),
    "a turned and cut view": (lambda x, w: x[:, :2] @ w[:2].contiguous(), True),
    "looked up": (lambda x, w: nn.functional.embedding(torch.tensor([0, 1, 2, 3, 0, 1]), w), True),
    "twice": (lambda x, w: x @ w + x @ w.flip(0), False),
    "rounded, straight through": (lambda x, w: x @ rounded(w), False),
    "in one of two products": (lambda x, w: x @ w + x @ rounded(w), False),
    "standardized": (lambda x, w: x @ ((w - w.mean(0)) / w.std(0)), False),
    "not at all": (lambda x, w: x[:, :2].clone().requires_grad_(), False),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways(way: str) -> None:
    use, plain = WAYS[way]
    torch.manual_seed(0)
    x, w = torch.randn(6, 4), torch.randn(4, 5, requires_grad=True)
    assert are_used_unchanged(use(x, w).square().mean(), [w]) == plain


def test_all_of_them_are_asked() -> None:
    first, second = torch.randn(4, 5, requires_grad=True), torch.randn(5, 2, requires_grad=True)
    loss = (torch.randn(6, 4) @ first @ rounded(second)).mean()
    assert are_used_unchanged(loss, [first])
    assert not are_used_unchanged(loss, [first, second])
    assert not are_used_unchanged(loss, [])
