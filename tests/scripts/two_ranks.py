"""DistributedDataParallel over gloo, started by torchrun."""

import json
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(27)
x = torch.randn(128, 6)
y = x[:, :3].argmax(1)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(20):
    i = torch.arange(rank, 128, 2)
    loss = nn.functional.cross_entropy(model(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.save(model.module.state_dict(), f"weights{rank}.pt")
with open(f"truth{rank}.json", "w") as file:
    json.dump({"loss": losses, "lr": [0.1] * 20, "world": os.environ["WORLD_SIZE"]}, file)
dist.destroy_process_group()
