"""torch.compile, eager backend (no compiler is needed on the machine)."""

import json

import torch
from torch import nn

torch.manual_seed(15)
x = torch.randn(200, 10)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
fast = torch.compile(model, backend="aot_eager")
losses = []
for step in range(30):
    i = torch.randperm(200)[:50]
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(fast(x[i]), y[i])
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump(
    {"loss": losses, "lr": [0.1] * 30, "graphs": torch._dynamo.utils.counters["stats"]["unique_graphs"]},
    open("truth.json", "w"),
)
