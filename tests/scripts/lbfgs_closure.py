"""LBFGS with a closure, which is called several times a step."""

import json

import torch

torch.manual_seed(8)
x = torch.linspace(-2, 2, 80).unsqueeze(1)
y = torch.sin(2 * x)
model = torch.nn.Sequential(torch.nn.Linear(1, 12), torch.nn.Tanh(), torch.nn.Linear(12, 1))
criterion = torch.nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6)
losses = []


def closure():
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    return loss


for step in range(12):
    loss = optimizer.step(closure)
    losses.append(loss.item())
    print("step", step, "loss", loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [0.5] * 12}, open("truth.json", "w"))
