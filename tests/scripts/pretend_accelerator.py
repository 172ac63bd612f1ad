"""A loop whose loss says that it is on another device (`meta`, which needs no accelerator): reading it takes as long as the
host's own work of a step.

The first argument: `each` reads it in every step in four ways, `seldom` in every tenth, `here` never leaves the host.
"""

import sys

import torch
from torch import nn
from torch.utils._pytree import tree_map

WAY = sys.argv[1]
work = torch.ones(300, 300) / 300


def busy(times):
    for _ in range(times):
        work @ work


class Away(torch.Tensor):
    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(cls, held.shape, dtype=held.dtype, device="meta")

    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), named=None):
        named = dict(named or {})
        device = named.pop("device", None)
        found = function(*tree_map(here, args), **tree_map(here, named))
        if function is torch.ops.aten._local_scalar_dense.default:
            busy(5)
            return found
        if device is not None and torch.device(device).type == "cpu":
            return found
        return tree_map(lambda one: Away(one) if isinstance(one, torch.Tensor) else one, found)


def here(one):
    return one.held if isinstance(one, Away) else one


class Lift(torch.autograd.Function):
    @staticmethod
    def forward(ctx, one):
        return Away(one.detach())

    @staticmethod
    def backward(ctx, gradient):
        return here(gradient)


def main():
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for step in range(60):
        x = torch.randn(16, 8)
        busy(15)
        loss = nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        if WAY != "here":
            loss = Lift.apply(loss)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if WAY != "seldom" or step % 10 == 0:
            total += loss.item()
            total += float(loss.detach())
            if loss > 1e9:
                break
            total += float(loss.detach().cpu())
    print(f"{total:.6f}")


if __name__ == "__main__":
    main()
