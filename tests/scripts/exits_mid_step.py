"""Leaves by os._exit between backward and step."""

import json
import os

import torch

torch.manual_seed(26)
x = torch.randn(64, 3)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(4000):
    loss = torch.nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    if step == 3999:
        with open("truth.json", "w") as file:
            json.dump({"loss": losses, "lr": [0.1] * len(losses)}, file)
        os._exit(0)
    optimizer.step()
    losses.append(loss.item())
