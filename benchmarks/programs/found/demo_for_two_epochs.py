#!/usr/bin/env python
import argparse

import torch
import torch.nn as nn
from sklearn.datasets import load_digits

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=2)
p.add_argument("--lr", type=float, default=3e-4)
args = p.parse_args()
torch.manual_seed(99)
d = load_digits()
images = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 8 - 1
labels = torch.tensor(d.target)
cnn = nn.Sequential(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.Flatten(), nn.Linear(512, 10))
optim = torch.optim.Adam(cnn.parameters(), lr=args.lr)
for epoch in range(1, args.epochs + 1):
    for b, ix in enumerate(torch.randperm(1500).split(25)):
        optim.zero_grad()
        out = cnn(images[ix])
        loss = nn.functional.cross_entropy(out, labels[ix])
        loss.backward()
        optim.step()
        if b % 10 == 0:
            print(f"Train Epoch: {epoch} [{b * 25}/1500]\tLoss: {loss.item():.6f}")
    with torch.no_grad():
        o = cnn(images[1500:])
        print(f"Test set: Average loss: {nn.functional.cross_entropy(o, labels[1500:]).item():.4f}, Accuracy: {(o.argmax(1) == labels[1500:]).float().mean().item():.3f}")
print("final", (o.argmax(1) == labels[1500:]).float().mean().item())
