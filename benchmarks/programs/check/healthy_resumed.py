import os

import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(47)
x, y = scaled_digits()
loader = DataLoader(TensorDataset(x, y), 64, shuffle=True)
model = nn.Sequential(nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.1), nn.Linear(96, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
start = 0
if os.path.exists("resume.pt"):
    state = torch.load("resume.pt")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["epoch"] + 1
for epoch in range(start, start + 15):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, "resume.pt")
    print(epoch, loss.item())
