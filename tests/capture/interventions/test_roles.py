"""Which activations of a model are hidden ones, found in the graph of a trial pass that leaves no trace."""

from __future__ import annotations

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from traindx.capture.torch.alter.calls import Pass  # noqa: E402
from traindx.capture.torch.alter.rehearsal import CannotRehearse, rehearse  # noqa: E402


def roles(model: nn.Module, *args: torch.Tensor) -> list[tuple[str, str]]:
    calls, _ = rehearse(Pass(model, args, {}, True, 0))
    return [(call.kind, call.role) for call in calls]


class Lines(nn.Module):
    """Two activations on one line, one function in a loop over layers, a probability at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(5, 5) for _ in range(4))
        self.last = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.layers[1](torch.tanh(self.layers[0](x))))
        for layer in self.layers[2:]:
            x = layer(x).sigmoid()
        return F.sigmoid(self.last(x))


class LoopToTheEnd(nn.Module):
    """One line is hidden at first and the output in its last turn."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(5, 5) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.sigmoid(layer(x))
        return x


class HandMadeLSTM(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x, self.h, self.out = nn.Linear(3, 16), nn.Linear(4, 16), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = c = torch.zeros(len(x), 4)
        for t in range(x.shape[1]):
            i, f, g, o = (self.x(x[:, t]) + self.h(h)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return self.out(h)


class HandMadeGRU(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.z, self.n, self.out = nn.Linear(7, 4), nn.Linear(7, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(len(x), 4)
        for t in range(x.shape[1]):
            z = torch.sigmoid(self.z(torch.cat([x[:, t], h], 1)))
            h = (1 - z) * h + z * torch.tanh(self.n(torch.cat([x[:, t], h], 1)))
        return self.out(h)


class Elman(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.x, self.h, self.out = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.zeros(len(x), 4)
        for t in range(x.shape[1]):
            h = torch.tanh(self.x(x[:, t]) + self.h(h))
        return self.out(h)


class SqueezeAndExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.down, self.up, self.out = (
            nn.Conv2d(1, 6, 3),
            nn.Linear(6, 3),
            nn.Linear(3, 6),
            nn.Linear(6, 2),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv(x), inplace=True)
        gate = torch.sigmoid(self.up(F.relu(self.down(x.mean((2, 3))))))
        return self.out((x * gate[:, :, None, None]).mean((2, 3)))


class Weights(nn.Module):
    """An activation of weights, one of scores between samples, one by a hand-written product, one after a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.w, self.v = nn.Parameter(torch.randn(5, 5)), nn.Parameter(torch.randn(5, 2))
        self.norm, self.q = nn.LayerNorm(5), nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.tanh(self.norm(x @ torch.tanh(self.w)))
        return (torch.sigmoid(self.q(x) @ x.T) @ x) @ self.v


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, activation="relu")
        self.lstm, self.out = nn.LSTM(8, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"logits": self.out(self.lstm(self.body(x))[0][:, -1])}


def test_roles() -> None:
    table, steps, image = torch.randn(6, 5), torch.randn(6, 3, 3), torch.randn(2, 1, 6, 6)
    assert roles(Lines(), table) == [("tanh", "hidden")] * 2 + [("sigmoid", "hidden")] * 2 + [
        ("sigmoid", "output")
    ]
    assert roles(LoopToTheEnd(), table) == [("sigmoid", "hidden")] * 2 + [("sigmoid", "output")]
    assert {role for _, role in roles(HandMadeLSTM(), steps)} == {"gate"}
    assert {role for _, role in roles(HandMadeGRU(), steps)} == {"gate"}
    assert roles(Elman(), steps) == [("tanh", "recurrent")] * 3
    assert roles(SqueezeAndExcite(), image) == [("relu", "hidden"), ("relu", "hidden"), ("sigmoid", "gate")]
    assert roles(Weights(), table) == [("tanh", "other"), ("tanh", "hidden"), ("sigmoid", "gate")]
    assert roles(Encoder(), torch.randn(2, 4, 8)) == [("relu", "hidden")]
    generator = nn.Sequential(nn.Linear(5, 5), nn.ReLU(True), nn.Linear(5, 5), nn.Tanh())
    assert roles(generator, table) == [("relu", "hidden"), ("tanh", "output")]


class Forgetful(nn.Module):
    """Keeps and draws all it can in a pass."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.layer, self.drop = nn.BatchNorm1d(5), nn.Linear(5, 5), nn.Dropout(0.5)
        self.calls, self.seen, self.last = 0, [], None
        self.register_buffer("mean", torch.zeros(5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(random.random() + np.random.rand() + torch.rand(1))
        self.calls += 1
        self.last = x.detach()
        self.seen.append(self.calls)
        self.mean = self.mean + x.detach().mean(0)
        return self.drop(torch.relu(self.layer(self.norm(x))))


def test_a_trial_pass_leaves_no_trace() -> None:
    model, x = Forgetful(), torch.randn(8, 5)
    kept = x.clone()
    random.seed(3), np.random.seed(3), torch.manual_seed(3)
    before = [b.clone() for b in model.buffers()]
    calls, dropouts = rehearse(Pass(model, (x,), {}, True, 0))
    assert (len(calls), dropouts) == (1, 1)
    assert torch.equal(x, kept)
    assert (model.calls, model.seen, model.last) == (0, [], None)
    assert all(torch.equal(a, b) for a, b in zip(before, model.buffers(), strict=True))
    drawn = random.random(), np.random.rand(), torch.rand(1)
    random.seed(3), np.random.seed(3), torch.manual_seed(3)
    assert drawn == (random.random(), np.random.rand(), torch.rand(1))
    assert all(p.grad is None for p in model.parameters())


def test_what_cannot_be_looked_at_says_why() -> None:
    for model, why in ((nn.LazyLinear(3), "first pass"), (nn.Linear(4, 4), "trial pass failed")):
        with pytest.raises(CannotRehearse, match=why):
            rehearse(Pass(model, (torch.randn(2, 5),), {}, True, 0))
    with pytest.raises(CannotRehearse, match="compiled"):
        rehearse(Pass(torch.compile(nn.Linear(5, 5)), (torch.randn(2, 5),), {}, True, 0))
