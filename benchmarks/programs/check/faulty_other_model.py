import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def build():
    return nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))


torch.manual_seed(5)
model = build()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model = build()  # made anew after the optimizer
x, y = scaled_digits()
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), 64, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
