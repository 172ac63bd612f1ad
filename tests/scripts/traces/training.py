"""What the scripts of this folder train, and how they say what they see of it."""

import hashlib
import json
import re

import torch
from torch import nn


class Attends(nn.Module):
    """Attention with its own softmax, and a fused one."""

    def __init__(self, width):
        super().__init__()
        self.mix = nn.Linear(width, 3 * width)

    def forward(self, x):
        query, key, value = self.mix(x).chunk(3, -1)
        shares = (query @ key.transpose(-1, -2)).softmax(-1)
        return shares @ value + nn.functional.scaled_dot_product_attention(query, key, value)


class Net(nn.Module):
    """Functions and modules, a loss in the forward pass if a target is given."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.attends = Attends(8)
        self.norm = nn.BatchNorm1d(8)
        self.relu = nn.ReLU()
        self.last = nn.Linear(8, 3)

    def forward(self, x):
        x = self.attends(self.first(x.float()).unsqueeze(1)).squeeze(1)
        x = nn.functional.softmax(self.relu(self.norm(x)), dim=-1)
        return nn.functional.linear(x, self.last.weight, self.last.bias)


class WithLoss(nn.Module):
    """A model and its loss in one."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, y):
        return nn.functional.cross_entropy(self.model(x), y)


def made(seed=0):
    torch.manual_seed(seed)
    model = Net()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-3)


def batch(step):
    draw = torch.Generator().manual_seed(step)
    return torch.randn(16, 6, generator=draw), torch.randint(3, (16,), generator=draw)


def train(model, optimizer, first, last, compiled=None):
    """Steps `first` to `last`; the last loss."""
    for step in range(first, last):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy((model if compiled is None else compiled)(x), y)
        loss.backward()
        optimizer.step()
    return loss.item()


def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]


def report(what, looks, model, optimizer):
    """One line a look: what it returns, or the error it ends in. Buffers are put back, so that each is alone."""
    for name, look in looks.items():
        buffers = [(b, b.clone()) for b in model.buffers()]
        try:
            found = look(model, optimizer)
        except Exception as error:  # noqa: BLE001 - it is printed
            found = f"{type(error).__name__}: {error}"
        for buffer, before in buffers:
            buffer.copy_(before)
        text = found if isinstance(found, str) else repr(found)
        print(
            json.dumps({"look": f"{name} {what}", "found": re.sub(r"0x[0-9a-f]+", "0x", text)}), flush=True
        )
