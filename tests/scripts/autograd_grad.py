"""Gradients from torch.autograd.grad: updates by hand, or (given "optimizer") put where an optimizer looks.
A gradient with respect to the inputs is taken as well, as for saliency."""

import json
import sys

import torch
from torch import nn

torch.manual_seed(31)
x = torch.randn(96, 5)
y = x[:, :1] - 2 * x[:, 1:2]
net = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1))
params = list(net.parameters())
optimizer = torch.optim.SGD(params, lr=0.05) if "optimizer" in sys.argv else None
losses, norms = [], []
for step in range(25):
    loss = ((net(x) - y) ** 2).mean()
    grads = torch.autograd.grad(loss, params)
    losses.append(loss.item())
    norms.append(torch.cat([g.flatten() for g in grads]).norm().item())
    if optimizer is not None:
        for p, g in zip(params, grads, strict=True):
            p.grad = g
        optimizer.step()
    else:
        with torch.no_grad():
            for p, g in zip(params, grads, strict=True):
                p -= 0.05 * g
    probe = x[:4].clone().requires_grad_()
    torch.autograd.grad(net(probe).sum(), probe)
assert optimizer is not None or all(p.grad is None for p in params)
torch.save(net.state_dict(), "weights.pt")
with open("truth.json", "w") as file:
    json.dump({"loss": losses, "grad_norm": norms, "lr": [0.05] * 25}, file)
