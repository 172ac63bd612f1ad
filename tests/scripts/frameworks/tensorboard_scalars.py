"""SummaryWriter with its own tags, histograms, and a validation loss that no loss function computes."""

import json

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(7)
writer = SummaryWriter("runs/tb")
x = torch.rand(1000, 2) * 6 - 3
y = (torch.sin(x[:, :1]) + x[:, 1:] ** 2 / 5) + 0.05 * torch.randn(1000, 1)
model = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.93)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(15):
    for chosen in torch.randperm(800).split(50):
        loss = nn.functional.mse_loss(model(x[chosen]), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(optimizer.param_groups[0]["lr"])
        writer.add_scalar("Loss/train", loss, len(truth["loss"]))
    schedule.step()
    with torch.no_grad():
        held_out = ((model(x[800:]) - y[800:]) ** 2).mean()
    truth["val_loss"].append(held_out.item())
    writer.add_scalar("Loss/valid", held_out, len(truth["loss"]))
    writer.add_scalars("rates", {"lr": truth["lr"][-1]}, epoch)
    for name, parameter in model.named_parameters():
        writer.add_histogram(name, parameter, epoch)
writer.close()
json.dump(truth, open("truth.json", "w"))
