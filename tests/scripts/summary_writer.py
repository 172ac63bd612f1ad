"""Logs to a SummaryWriter. (A stand-in of the same name and place is used where tensorboard is not installed.)"""

import json

import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(5)
x = torch.randn(128, 4)
y = (x.sum(1, keepdim=True) > 0).float()
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.05)
criterion = nn.BCEWithLogitsLoss()
truth = {"loss": [], "lr": [], "val_acc": []}
with SummaryWriter("tb") as writer:
    for step in range(40):
        optimizer.zero_grad()
        loss = criterion(model(x[:96]), y[:96])
        loss.backward()
        optimizer.step()
        writer.add_scalar("Loss/train", loss.item(), step)
        truth["loss"].append(loss.item())
        truth["lr"].append(0.05)
        if step % 10 == 9:
            with torch.no_grad():
                accuracy = ((model(x[96:]) > 0).float() == y[96:]).float().mean().item()
            writer.add_scalar("Accuracy/val", accuracy, step)
            truth["val_acc"].append(accuracy)
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
