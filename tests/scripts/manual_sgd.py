"""Gradient descent by hand on plain tensors: no module, no optimizer object."""

import json

import torch

torch.manual_seed(9)
x = torch.randn(100, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
losses = []
for step in range(50):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad.zero_()
    losses.append(loss.item())
print("final loss", losses[-1])
torch.save([w, b], "weights.pt")
json.dump({"loss": losses}, open("truth.json", "w"))
