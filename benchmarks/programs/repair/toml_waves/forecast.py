#!/usr/bin/env python
import math
import tomllib

import torch

with open("settings.toml", "rb") as f:
    settings = tomllib.load(f)
series, training = settings["series"], settings["training"]
torch.manual_seed(17)

t = torch.arange(series["length"], dtype=torch.float32)
wave = torch.sin(2 * math.pi * t / 25) + 0.5 * torch.sin(2 * math.pi * t / 60) + 0.1 * torch.randn(len(t))
windows = wave.unfold(0, series["past"] + 1, 1)
x, y = windows[:, :-1], windows[:, -1:]
cut = 1000
net = torch.nn.Sequential(torch.nn.Linear(series["past"], 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))
mse = torch.nn.MSELoss()
sgd = torch.optim.SGD(net.parameters(), lr=training["lr"], momentum=training["momentum"])

for epoch in range(1, training["epochs"] + 1):
    net.train()
    for rows in torch.randperm(cut).split(training["batch"]):
        sgd.zero_grad()
        loss = mse(net(x[rows]), y[rows])
        loss.backward()
        sgd.step()
    net.eval()
    with torch.no_grad():
        val_loss = mse(net(x[cut:]), y[cut:]).item()
    print(f"epoch {epoch:2d}  loss {loss.item():.4f}  val loss {val_loss:.4f}")
print(f"final val mse {val_loss:.4f}")
