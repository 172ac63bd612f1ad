import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def validate(model, loader):
    model.eval()
    with torch.no_grad():
        return sum((model(a).argmax(1) == b).sum().item() for a, b in loader) / len(loader.dataset)


torch.manual_seed(32)
x, y = scaled_digits()
train = DataLoader(TensorDataset(x[:1100], y[:1100]), 50, shuffle=True)
val = DataLoader(TensorDataset(x[1100:], y[1100:]), 200)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print("before", validate(model, val))
for epoch in range(15):
    for a, b in train:  # train() is never called again
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item(), validate(model, val))
