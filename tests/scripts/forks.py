"""Forks in the middle of training; the child trains on for itself and exits by sys.exit."""

import json
import os
import sys

import torch

torch.manual_seed(25)
torch.set_num_threads(1)
x = torch.randn(64, 3)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []


def step():
    loss = torch.nn.functional.l1_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


for _ in range(15):
    losses.append(step())
child = os.fork()
if child == 0:
    for _ in range(50):
        step()
    sys.exit(0)
os.waitpid(child, 0)
for _ in range(15):
    losses.append(step())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [0.1] * 30}, open("truth.json", "w"))
