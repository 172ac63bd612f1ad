"""GradScaler and autocast (bfloat16 on a CPU), unscaled before clipping."""

import json

import torch
from torch import nn

torch.manual_seed(12)
x = torch.randn(256, 16)
y = x[:, :5].argmax(1)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
losses = []
for step in range(40):
    i = torch.randperm(256)[:64]
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [5e-3] * 40}, open("truth.json", "w"))
