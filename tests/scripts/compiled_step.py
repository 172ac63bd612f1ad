"""A compiled function that calls the model and computes the loss, without graph breaks."""

import json

import torch
import torch.nn.functional as F

torch.manual_seed(16)
x = torch.randn(200, 10)
y = x[:, :3].argmax(1)
model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


@torch.compile(backend="aot_eager", fullgraph=True)
def compute_loss(inputs, targets):
    return F.cross_entropy(model(inputs), targets)


losses = []
for step in range(30):
    i = torch.randperm(200)[:50]
    loss = compute_loss(x[i], y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump(
    {"loss": losses, "lr": [0.01] * 30, "graphs": torch._dynamo.utils.counters["stats"]["unique_graphs"]},
    open("truth.json", "w"),
)
