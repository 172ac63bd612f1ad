"""Crashes in the backward pass of step 20, after a function call."""

import json

import torch
import torch.nn.functional as F

torch.manual_seed(24)
x = torch.randn(64, 3)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []


def train_step(step):
    loss = F.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    if step == 20:
        loss = loss.detach()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    json.dump({"loss": losses, "lr": [0.1] * len(losses)}, open("truth.json", "w"))


for step in range(100):
    train_step(step)
