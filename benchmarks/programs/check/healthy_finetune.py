"""A head on a frozen base that was trained before."""

import torch
from sets import images
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)


def make_base():
    return nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2), nn.ReLU(), nn.Flatten())


base = make_base()
with torch.no_grad():
    for layer in base:
        if isinstance(layer, nn.Conv2d):
            nn.init.orthogonal_(layer.weight)
for p in base.parameters():
    p.requires_grad_(False)
x, y = images(900, classes=3)
head = nn.Linear(24 * 16, 3)
model = nn.Sequential(base, head)
loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
opt = torch.optim.Adam((p for p in model.parameters() if p.requires_grad), lr=1e-3)
for epoch in range(15):
    for a, b in loader:
        loss = nn.functional.cross_entropy(model(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, float(loss))
