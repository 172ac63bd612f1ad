"""Two styles of small trainings: epochs over a DataLoader, and batches cut from tensors by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

X = torch.randn(200, 6, generator=torch.Generator().manual_seed(1))
Y = (X[:, 0] > 0.5).long()
R = X[:, :1] * 40 + 300 + torch.randn(200, 1, generator=torch.Generator().manual_seed(2))

Make = Callable[[], nn.Module]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Train = Callable[[], dict[str, Any]]


def entropy(found: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(found, target)


def squares(found: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.mse_loss(found, target)


def perceptron(activation: Callable[[], nn.Module] = nn.ReLU, rate: float = 0.0, outputs: int = 2) -> Make:
    def make() -> nn.Module:
        drop: list[nn.Module] = [nn.Dropout(rate)] if rate else []
        return nn.Sequential(
            nn.Linear(6, 16), activation(), *drop, nn.Linear(16, 16), activation(), nn.Linear(16, outputs)
        )

    return make


def epochs(
    make: Make,
    loss: Loss = entropy,
    y: torch.Tensor = Y,
    *,
    x: torch.Tensor = X,
    shuffle: bool = True,
    size: int = 32,
) -> Train:
    """Three epochs of 160 samples from a DataLoader, each with an evaluation on 40 others."""

    def train() -> dict[str, Any]:
        torch.manual_seed(0)
        loader = DataLoader(TensorDataset(x[:160], y[:160]), batch_size=size, shuffle=shuffle)
        held_out = DataLoader(TensorDataset(x[160:], y[160:]), batch_size=40)
        model = make()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        out: dict[str, Any] = {"losses": [], "validation": [], "batches": [], "length": len(loader)}
        for _ in range(3):
            model.train()
            for inputs, labels in loader:
                optimizer.zero_grad()
                value = loss(model(inputs), labels)
                value.backward()
                optimizer.step()
                out["losses"].append(value.detach())
                out["batches"].append((inputs, labels))
            model.eval()
            with torch.no_grad():
                out["validation"] += [loss(model(inputs), labels) for inputs, labels in held_out]
        return finished(out, model)

    return train


def by_hand(
    make: Make,
    loss: Loss = entropy,
    y: torch.Tensor = Y,
    *,
    x: torch.Tensor = X,
    steps: int = 12,
    whole: bool = False,
) -> Train:
    """Batches of 32 of 160 samples (or all of them), cut by hand; an evaluation at the end."""

    def train() -> dict[str, Any]:
        torch.manual_seed(0)
        model = make()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        out: dict[str, Any] = {"losses": [], "validation": []}
        for _ in range(steps):
            i = slice(0, 160) if whole else torch.randint(0, 160, (32,))
            value = loss(model(x[i]), y[i])
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            out["losses"].append(value.detach())
        model.eval()
        with torch.no_grad():
            out["validation"].append(loss(model(x[160:]), y[160:]))
        return finished(out, model)

    return train


def finished(out: dict[str, Any], model: nn.Module) -> dict[str, Any]:
    return {
        **out,
        "weights": [p.detach().clone() for p in model.parameters()],
        "outputs": model(X[160:]).detach(),
        "random": torch.get_rng_state(),
    }


STYLES: tuple[Callable[..., Train], ...] = (epochs, by_hand)
