import torch
from sets import digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(24)
x, y = digits()
train = DataLoader(TensorDataset(x[:1200] / 8 - 1, y[:1200]), batch_size=64, shuffle=True)
val = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=100)  # not scaled
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(20):
    model.train()
    for a, b in train:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(a).argmax(1) == b).sum().item() for a, b in val)
    print(f"{epoch} loss {loss.item():.3f} val accuracy {hits / 300:.3f}")
