"""A compiled model with epochs and validation, both through the compiled call."""

import json

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
x = torch.randn(1200, 12)
y = (x[:, :3] - x[:, 3:6]).argmax(1)
loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=50, shuffle=True, drop_last=True)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 3))
fast = torch.compile(model, backend="aot_eager")
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(8):
    model.train()
    for inputs, targets in loader:
        loss = nn.functional.cross_entropy(fast(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(0.005)
    model.eval()
    with torch.no_grad():
        truth["val_loss"].append(nn.functional.cross_entropy(fast(x[1000:]), y[1000:]).item())
    print(f"Epoch {epoch + 1}/8 - val_loss: {truth['val_loss'][-1]:.4f}")
json.dump(truth, open("truth.json", "w"))
