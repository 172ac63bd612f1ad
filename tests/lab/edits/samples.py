"""What each kind of edit does to a project, as texts to swap, and what it must leave to a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SCRIPT = '''\
"""Trains a small net.   Odd formatting and comments are kept."""
import argparse

import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)  # the rate
args = parser.parse_args()
torch.manual_seed( 3 )
X = torch.randn(400, 8);  Y = torch.randint(0, 3, (400,))
train = DataLoader(TensorDataset(X[:300], Y[:300]), batch_size=20)  # in order
valid = DataLoader(TensorDataset(X[300:], Y[300:]), batch_size=50)
model = nn.Sequential(
    nn.Linear(8, 16),  # in
    nn.Tanh(),
    nn.Linear(16, 3),  # out
)
opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.99, weight_decay=1e-2)

# ------------------------------------------------------------- training
for epoch in range(4):

    for x, y in train:
        out = model(x)
        loss = F.cross_entropy(out, y)  # the loss
        opt.zero_grad()
        loss.backward()
        # the step
        opt.step()
    with torch.no_grad():
        val_loss = sum(F.cross_entropy(model(x), y).item() for x, y in valid) / len(valid)
    print(epoch, loss.item(), val_loss)
'''
STEP, BACK, CLEAR = "        opt.step()\n", "        loss.backward()\n", "        opt.zero_grad()\n"
MADE = "opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.99, weight_decay=1e-2)\n"
LOOP, INNER = "for epoch in range(4):\n", "    for x, y in train:\n"
LAST = "    print(epoch, loss.item(), val_loss)\n"
DIRECT = "F.cross_entropy(out, y)"
Swaps = tuple[tuple[str, str], ...]


def swapped(text: str, swaps: Swaps) -> str:
    """The text with each of these replaced, which appears in it exactly once."""
    for old, new in swaps:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Applies:
    """`given` makes the project from SCRIPT; `swaps` is all that the edit changes in it."""

    what: str  # an intervention, or a fix
    swaps: Swaps
    given: Swaps = ()
    facts: Mapping[str, float | str | int | bool] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    changed: Mapping[str, Swaps] = field(default_factory=dict)


@dataclass(frozen=True)
class Refuses:
    """`why` is in the reason."""

    what: str
    why: str
    given: Swaps = ()
    facts: Mapping[str, float | str | int | bool] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
