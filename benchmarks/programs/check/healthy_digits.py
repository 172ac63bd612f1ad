import torch
import torch.nn as nn
import torch.nn.functional as F
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x, y = scaled_digits()
train, val = TensorDataset(x[:1100], y[:1100]), TensorDataset(x[1100:], y[1100:])
loader = DataLoader(train, batch_size=64, shuffle=True)
held = DataLoader(val, batch_size=200)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(25):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = sum((model(a).argmax(1) == b).sum().item() for a, b in held) / len(val)
    print(f"epoch {epoch} loss {loss.item():.4f} val_acc {accuracy:.3f}")
