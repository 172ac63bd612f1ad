"""Meta-learning: steps through `.data`, and weights that are put back between the tasks."""

import json

import torch

torch.manual_seed(30)
model = torch.nn.Sequential(torch.nn.Linear(1, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
x = torch.linspace(-3, 3, 20)[:, None]
losses = []
for task in range(12):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    y = torch.sin(x + torch.rand(1))
    for step in range(5):
        model.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        for p in model.parameters():
            p.data -= 0.02 * p.grad
        losses.append(loss.item())
    after = model.state_dict()
    model.load_state_dict({name: w + 0.3 * (after[name] - w) for name, w in before.items()})
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses}, open("truth.json", "w"))
