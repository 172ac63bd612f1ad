"""Ten small trainings on made-up data, each of another kind: `python benchmarks/find_lr_nets.py conv --lr 0.01`.

A plain training script, for `traindx find-lr` to run; benchmarks/find_lr.py trains the same nets at many rates.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

DATA_SEED = 99


class Net(NamedTuple):
    """What a training consists of; `optimizer(parameters, lr)`."""

    inputs: Tensor
    targets: Tensor
    model: nn.Module
    loss: Callable[[Tensor, Tensor], Tensor]
    optimizer: Callable[[Iterable[Tensor], float], torch.optim.Optimizer]
    batch: int


def mlp() -> Net:
    """Ten overlapping clouds, 3 % wrong labels; SGD with momentum."""
    centers, labels = torch.randn(10, 32), torch.randint(10, (4000,))
    inputs = centers[labels] + 1.4 * torch.randn(4000, 32)
    targets = torch.where(torch.rand(4000) < 0.03, torch.randint(10, (4000,)), labels)
    layers = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    return Net(
        inputs, targets, layers, F.cross_entropy, lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9), 32
    )


def conv() -> Net:
    """Noisy pictures of bars, diagonals and squares; batch normalization, Adam."""
    kinds, at = torch.randint(4, (2000,)), torch.randint(1, 9, (2000,))
    pictures = torch.zeros(2000, 1, 12, 12)
    for picture, kind, a in zip(pictures, kinds.tolist(), at.tolist(), strict=True):
        if kind == 0:
            picture[0, a : a + 2, :] = 1
        elif kind == 1:
            picture[0, :, a : a + 2] = 1
        elif kind == 2:
            picture[0] = torch.eye(12).roll(a, 1)
        else:
            picture[0, a : a + 3, a : a + 3] = 1
    model = nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1)),
        *(nn.Flatten(), nn.Linear(16, 4)),
    )
    noisy = pictures + 0.7 * torch.randn(2000, 1, 12, 12)
    return Net(noisy, kinds, model, F.cross_entropy, lambda p, lr: torch.optim.Adam(p, lr=lr), 32)


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.inner = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        h = self.before(x)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.inner(self.between(x))


class Transformer(nn.Module):
    def __init__(self, symbols: int = 16, width: int = 32, length: int = 16) -> None:
        super().__init__()
        self.symbols = nn.Embedding(symbols, width)
        self.places = nn.Parameter(0.02 * torch.randn(length, width))
        self.blocks = nn.Sequential(Block(width), Block(width), nn.LayerNorm(width))
        self.head = nn.Linear(width, symbols)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.symbols(x) + self.places)).transpose(1, 2)


def transformer() -> Net:
    """Sequences from a Markov chain; AdamW."""
    chances = torch.softmax(2.0 * torch.randn(16, 16), 1)
    chain = [torch.randint(16, (2000,))]
    for _ in range(16):
        chain.append(torch.multinomial(chances[chain[-1]], 1)[:, 0])
    text = torch.stack(chain, 1)

    def adamw(parameters: Iterable[Tensor], lr: float) -> torch.optim.Optimizer:
        return torch.optim.AdamW(parameters, lr=lr, weight_decay=0.1, betas=(0.9, 0.95))

    return Net(text[:, :-1].clone(), text[:, 1:].clone(), Transformer(), F.cross_entropy, adamw, 16)


def autoencoder() -> Net:
    """Twenty-four numbers that lie near a four-dimensional surface; RMSprop."""
    inputs = torch.tanh(torch.randn(3000, 4) @ torch.randn(4, 24)) + 0.1 * torch.randn(3000, 24)
    encoder = nn.Sequential(nn.Linear(24, 32), nn.Tanh(), nn.Linear(32, 4))
    model = nn.Sequential(encoder, nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 24))
    return Net(inputs, inputs.clone(), model, F.mse_loss, lambda p, lr: torch.optim.RMSprop(p, lr=lr), 32)


def regression() -> Net:
    """A function of five of ten numbers, with noise; plain SGD."""
    x = torch.randn(3000, 10)
    y = torch.sin(x[:, :3]).sum(1, keepdim=True) + 0.5 * x[:, 3:4] * x[:, 4:5] + 0.2 * torch.randn(3000, 1)
    model = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    return Net(x, y, model, F.mse_loss, lambda p, lr: torch.optim.SGD(p, lr=lr), 32)


class Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        return x + self.inner(x)


def clouds(kinds: int, width: int, spread: float) -> tuple[Tensor, Tensor]:
    """Overlapping clouds: (inputs, labels)."""
    centers, labels = torch.randn(kinds, width), torch.randint(kinds, (4000,))
    return centers[labels] + spread * torch.randn(4000, width), labels


def residual() -> Net:
    """Skip connections; Nesterov's momentum and weight decay."""
    x, y = clouds(6, 24, 2.5)
    model = nn.Sequential(nn.Linear(24, 48), Residual(48), Residual(48), nn.Linear(48, 6))

    def nesterov(parameters: Iterable[Tensor], lr: float) -> torch.optim.Optimizer:
        return torch.optim.SGD(parameters, lr=lr, momentum=0.95, nesterov=True, weight_decay=1e-3)

    return Net(x, y, model, F.cross_entropy, nesterov, 48)


class Last(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.head = nn.LSTM(3, 24, batch_first=True), nn.Linear(24, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.inner(x)[0][:, -1])


def lstm() -> Net:
    """A sum over a sequence, of what a second channel lets through; Adam."""
    x = torch.randn(2000, 10, 3)
    y = (x[:, :, 0] * (x[:, :, 1] > 0)).sum(1, keepdim=True) / 2
    return Net(x, y, Last(), F.mse_loss, lambda p, lr: torch.optim.Adam(p, lr=lr), 32)


def waves() -> Net:
    """Noisy waves of three frequencies; convolutions over time, SGD with momentum."""
    kinds, time = torch.randint(3, (2000,)), torch.linspace(0, 1, 40)
    turns = (2.0 + 3 * kinds)[:, None] * time + torch.rand(2000, 1)
    x = (torch.sin(2 * torch.pi * turns) + 0.8 * torch.randn(2000, 40))[:, None]
    model = nn.Sequential(
        *(nn.Conv1d(1, 12, 7), nn.ReLU(), nn.MaxPool1d(2), nn.Conv1d(12, 12, 5), nn.ReLU()),
        *(nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(12, 3)),
    )
    return Net(x, kinds, model, F.cross_entropy, lambda p, lr: torch.optim.SGD(p, lr=lr, momentum=0.9), 32)


def tanh() -> Net:
    """Five layers of tanh; RMSprop with momentum."""
    x, y = clouds(7, 20, 1.8)
    inner = [layer for _ in range(3) for layer in (nn.Linear(32, 32), nn.Tanh())]
    model = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), *inner, nn.Linear(32, 7))
    return Net(x, y, model, F.cross_entropy, lambda p, lr: torch.optim.RMSprop(p, lr=lr, momentum=0.5), 40)


def huber() -> Net:
    """Targets with outliers, Huber's loss; dropout, AdamW."""
    x, outliers = torch.randn(3000, 12), torch.rand(3000, 1) < 0.05
    y = torch.exp(0.5 * x[:, :1]) + 1.5 * torch.randn(3000, 1).clamp(-1, 1) * outliers
    model = nn.Sequential(nn.Linear(12, 48), nn.SiLU(), nn.Dropout(0.1), nn.Linear(48, 1))
    return Net(
        x, y, model, F.smooth_l1_loss, lambda p, lr: torch.optim.AdamW(p, lr=lr, weight_decay=0.05), 24
    )


# The rule of reading a sweep was set with these in view,
SEEN: dict[str, Callable[[], Net]] = {
    "mlp": mlp,
    "conv": conv,
    "transformer": transformer,
    "autoencoder": autoencoder,
    "regression": regression,
}
# and these were made after it was set.
UNSEEN: dict[str, Callable[[], Net]] = {
    "residual": residual,
    "lstm": lstm,
    "waves": waves,
    "tanh": tanh,
    "huber": huber,
}
NETS = {**SEEN, **UNSEEN}


def made(name: str, seed: int) -> Net:
    """The net with the same data for every seed, and its own first weights."""
    torch.manual_seed(DATA_SEED)
    data = NETS[name]()
    torch.manual_seed(seed)
    return NETS[name]()._replace(inputs=data.inputs, targets=data.targets)


def loader(net: Net) -> DataLoader[Any]:
    return DataLoader(
        TensorDataset(net.inputs, net.targets), batch_size=net.batch, shuffle=True, drop_last=True
    )


def losses(net: Net, lr: float, steps: int) -> Iterator[float]:
    """Train, and yield the loss of each step."""
    optimizer = net.optimizer(net.model.parameters(), lr)
    made = 0
    while made < steps:
        for inputs, targets in loader(net):
            optimizer.zero_grad()
            loss = net.loss(net.model(inputs), targets)
            loss.backward()
            optimizer.step()
            yield loss.item()
            made += 1
            if made >= steps:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=NETS)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--steps", type=int, default=2000)
    given = parser.parse_args()
    for step, loss in enumerate(losses(made(given.name, 0), given.lr, given.steps)):
        if step % 100 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    print("done")


if __name__ == "__main__":
    main()
