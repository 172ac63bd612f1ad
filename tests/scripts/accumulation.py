"""Gradient accumulation over four micro-batches, the loss divided by four, and clipping."""

import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
x = torch.randn(320, 9)
y = (x[:, :2].prod(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(9, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()
steps = 4
truth = {"loss": [], "lr": []}
running = 0.0
for epoch in range(3):
    for i, (inputs, labels) in enumerate(loader):
        loss = criterion(model(inputs), labels) / steps
        loss.backward()
        running += loss.item()
        if (i + 1) % steps == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            optimizer.zero_grad()
            truth["loss"].append(running)
            truth["lr"].append(0.2)
            running = 0.0
    print(f"epoch {epoch} loss {truth['loss'][-1]:.4f}")
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
