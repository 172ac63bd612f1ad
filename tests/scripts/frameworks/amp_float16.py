"""Autocast to float16 and a GradScaler on the CPU; the first scale is too high and some steps are skipped."""

import json

import torch
from torch import nn

torch.manual_seed(8)
x = torch.randn(1500, 16)
y = (x[:, :5] + 0.3 * torch.randn(1500, 5)).argmax(1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20)
truth = {"loss": [], "lr": [], "val_loss": [], "skipped": 0}
for epoch in range(8):
    model.train()
    for chosen in torch.randperm(1200).split(48):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(x[chosen]), y[chosen])
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() < before:
            truth["skipped"] += 1
            continue
        truth["loss"].append(loss.item())
        truth["lr"].append(optimizer.param_groups[0]["lr"])
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.float16):
        val = nn.functional.cross_entropy(model(x[1200:]), y[1200:])
    truth["val_loss"].append(val.item())
    print(f"epoch {epoch}: train {loss.item():.4f} valid {val.item():.4f} scale {scaler.get_scale():g}")
json.dump(truth, open("truth.json", "w"))
