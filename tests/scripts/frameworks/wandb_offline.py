"""Weights & Biases, offline: a loss under its own name and an accuracy that only wandb is given."""

import json
import os

os.environ["WANDB_MODE"] = "offline"
os.environ["WANDB_SILENT"] = "true"

import torch
import wandb
from torch import nn

torch.manual_seed(5)
run = wandb.init(project="small", config={"lr": 0.05, "batch_size": 50})
x = torch.randn(1000, 8)
y = ((x[:, 0] * 2 + x[:, 1]) > 0).float()
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=wandb.config.lr, momentum=0.9)
truth = {"loss": [], "lr": [], "val_acc": []}
for epoch in range(10):
    for chosen in torch.randperm(800).split(wandb.config.batch_size):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x[chosen]).squeeze(1), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(optimizer.param_groups[0]["lr"])
        wandb.log({"loss": loss.item(), "lr": truth["lr"][-1]})
    with torch.no_grad():
        accuracy = ((model(x[800:]).squeeze(1) > 0) == (y[800:] > 0.5)).float().mean().item()
    truth["val_acc"].append(accuracy)
    wandb.log({"val_acc": accuracy, "epoch": epoch})
wandb.finish()
json.dump(truth, open("truth.json", "w"))
