"""Trains in two sittings: the second picks up weights, optimizer and epoch from a checkpoint file."""
import os

import torch
from sklearn.datasets import load_digits
from torch import nn

CHECKPOINT = "checkpoint.tar"
digits = load_digits()
x = torch.tensor(digits.data, dtype=torch.float32) / 16
y = torch.tensor(digits.target)


def build():
    model = nn.Sequential(nn.Linear(64, 80), nn.Tanh(), nn.Linear(80, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    return model, optimizer


def save(epoch, model, optimizer):
    torch.save({"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, CHECKPOINT)


def restore(model, optimizer):
    state = torch.load(CHECKPOINT)
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    return state["epoch"] + 1


def sitting(until):
    model, optimizer = build()
    first = restore(model, optimizer) if os.path.exists(CHECKPOINT) else 0
    print("starting at epoch", first)
    for epoch in range(first, until):
        model.train()
        total = 0.0
        for rows in torch.randperm(1400).split(40):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        model.eval()
        with torch.no_grad():
            out = model(x[1400:])
            acc = (out.argmax(1) == y[1400:]).float().mean().item()
            val = nn.functional.cross_entropy(out, y[1400:]).item()
        print(f"epoch {epoch} train_loss {total / 1400:.4f} val_loss {val:.4f} val_acc {acc:.4f}")
        save(epoch, model, optimizer)
    return acc


torch.manual_seed(97)
if os.path.exists(CHECKPOINT):
    os.remove(CHECKPOINT)
sitting(6)
acc = sitting(14)
os.remove(CHECKPOINT)
print(f"final val_acc {acc:.4f}")
