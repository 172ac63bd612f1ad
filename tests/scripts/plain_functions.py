"""Functions, a DataLoader, print: the tutorial style."""

import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

truth = {"loss": [], "lr": [], "val_loss": []}


def make_data():
    x = torch.randn(480, 12)
    y = (x[:, :3].sum(1) > 0).long()
    train = TensorDataset(x[:400], y[:400])
    valid = TensorDataset(x[400:], y[400:])
    return DataLoader(train, batch_size=40, shuffle=True), DataLoader(valid, batch_size=40)


def train_epoch(model, loader, loss_fn, optimizer):
    model.train()
    total = 0.0
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), labels)
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(optimizer.param_groups[0]["lr"])
        total += loss.item()
    return total / len(loader)


def evaluate(model, loader, loss_fn):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for inputs, labels in loader:
            total += loss_fn(model(inputs), labels).item()
    return total / len(loader)


torch.manual_seed(0)
train_loader, valid_loader = make_data()
model = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(3):
    train_loss = train_epoch(model, train_loader, loss_fn, optimizer)
    val_loss = evaluate(model, valid_loader, loss_fn)
    truth["val_loss"].append(val_loss)
    print(f"Epoch {epoch + 1}: train loss {train_loss:.4f}, val loss {val_loss:.4f}")
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
