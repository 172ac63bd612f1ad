"""Tries a few configurations one after the other and keeps the best."""
import itertools
import json

import torch
from sklearn.datasets import load_wine
from torch import nn

torch.manual_seed(86)
bunch = load_wine()
X = torch.tensor(bunch.data, dtype=torch.float32)
Y = torch.tensor(bunch.target)
perm = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))
X, Y = X[perm], Y[perm]
X = (X - X[:120].mean(0)) / X[:120].std(0)

results = []
for width, lr in itertools.product([16, 32], [3e-3, 1e-2]):
    torch.manual_seed(86)
    net = nn.Sequential(nn.Linear(13, width), nn.ReLU(), nn.Linear(width, 3))
    optimizer = torch.optim.Adam(net.parameters(), lr=lr)
    for epoch in range(15):
        for rows in torch.randperm(120).split(12):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(X[rows]), Y[rows])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            logits = net(X[120:])
            val = nn.functional.cross_entropy(logits, Y[120:]).item()
        if epoch % 3 == 2:
            print(json.dumps({"width": width, "lr": lr, "epoch": epoch, "train_loss": round(loss.item(), 4), "val_loss": round(val, 4)}))
    results.append({"width": width, "lr": lr, "accuracy": round((logits.argmax(1) == Y[120:]).float().mean().item(), 4)})
best = max(results, key=lambda r: r["accuracy"])
print(json.dumps({"best": best}))
print("final accuracy:", best["accuracy"])
