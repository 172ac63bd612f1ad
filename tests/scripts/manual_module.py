"""A module, and parameters changed through `.data` by a hand-written loop."""

import json

import torch
import torch.nn.functional as F

torch.manual_seed(10)
x = torch.randn(120, 6)
y = (x[:, 0] > x[:, 1]).long()
model = torch.nn.Sequential(torch.nn.Linear(6, 10), torch.nn.ReLU(), torch.nn.Linear(10, 2))
losses = []
for step in range(40):
    loss = F.cross_entropy(model(x), y)
    model.zero_grad()
    loss.backward()
    for p in model.parameters():
        p.data.sub_(0.2 * p.grad)
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses}, open("truth.json", "w"))
