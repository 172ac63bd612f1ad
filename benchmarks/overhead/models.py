"""The three trainings that cost is measured on: a small MLP, a CNN and a GPT, on a CPU."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional


@dataclass
class Case:
    """`step(log)` makes one training step and tells its loss."""

    name: str
    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: Callable[[Callable[[Any], None]], None]
    sample: torch.Tensor  # inputs of one batch


def _case(
    name: str, model: nn.Module, optimizer: torch.optim.Optimizer, batches: list[Any], loss: Any
) -> Case:
    place = [0]

    def step(log: Callable[[Any], None]) -> None:
        x, y = batches[place[0] % len(batches)]
        place[0] += 1
        optimizer.zero_grad()
        found = loss(model(x), y)
        found.backward()
        log(found)
        optimizer.step()

    return Case(name, model, optimizer, step, batches[0][0])


def mlp() -> Case:
    """784-512-512-512-10, batch 128, SGD with momentum: 0.93 M parameters."""
    sizes = (784, 512, 512, 512)
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), nn.ReLU()]
    model = nn.Sequential(*layers, nn.Linear(512, 10))
    batches = [(torch.randn(128, 784), torch.randint(0, 10, (128,))) for _ in range(20)]
    return _case(
        "MLP",
        model,
        torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
        batches,
        functional.cross_entropy,
    )


def cnn() -> Case:
    """Four convolutions with batch norm on 3x32x32, batch 64."""
    layers: list[nn.Module] = []
    for a, b, stride in ((3, 32, 1), (32, 64, 1), (64, 128, 2), (128, 256, 2)):
        layers += [nn.Conv2d(a, b, 3, stride, 1), nn.BatchNorm2d(b), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 10))
    batches = [(torch.randn(64, 3, 32, 32), torch.randint(0, 10, (64,))) for _ in range(10)]
    return _case(
        "CNN",
        model,
        torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9),
        batches,
        functional.cross_entropy,
    )


class Block(nn.Module):
    """Pre-norm attention and a four times wider MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, -1).transpose(1, 2) for y in self.qkv(self.ln1(x)).chunk(3, -1))
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, words: int = 512, width: int = 256, layers: int = 4, context: int = 128) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(layers)))
        self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.ln(self.blocks(self.wte(x) + self.wpe(torch.arange(x.shape[1])))))


def gpt() -> Case:
    """4 layers of 256, context 128, batch 16, AdamW: 3.45 M parameters."""
    model = GPT()
    batches = [(s[:, :-1], s[:, 1:]) for s in (torch.randint(0, 512, (16, 129)) for _ in range(4))]

    def loss(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return functional.cross_entropy(out.flatten(0, 1), y.flatten())

    return _case("GPT", model, torch.optim.AdamW(model.parameters(), lr=3e-4), batches, loss)


CASES = {"mlp": mlp, "cnn": cnn, "gpt": gpt}
