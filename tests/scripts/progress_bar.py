"""A progress bar drawn with carriage returns on stdout and stderr, as tqdm does."""

import json
import sys

import torch
from torch import nn

torch.manual_seed(2)
x = torch.randn(256, 6)
y = x @ torch.randn(6, 1) + 0.1 * torch.randn(256, 1)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for step in range(60):
    i = torch.randint(0, 256, (32,))
    loss = nn.functional.mse_loss(model(x[i]), y[i])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    bar = "#" * ((step + 1) * 20 // 60)
    sys.stderr.write(f"\r{step + 1:3d}/60 |{bar:20s}| loss={loss.item():.4f}")
    sys.stdout.write(f"\rstep {step + 1} loss {loss.item():.4f}")
    sys.stdout.flush()
sys.stderr.write("\n")
sys.stdout.write("\n")
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [0.05] * 60}, open("truth.json", "w"))
