"""Ends with sys.exit(3) in the middle of training."""

import json
import sys

import torch

torch.manual_seed(23)
x = torch.randn(64, 3)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(100):
    loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if step == 24:
        json.dump({"loss": losses, "lr": [0.1] * 25}, open("truth.json", "w"))
        sys.exit(3)
