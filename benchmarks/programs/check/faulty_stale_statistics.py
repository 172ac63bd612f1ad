import torch
from sets import images
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(30)
x, y = images()
x = 3 * x + 2
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8, momentum=0.0), nn.ReLU(),
    nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8, momentum=0.0), nn.ReLU(), nn.Flatten(), nn.Linear(512, 4),
)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
loader = DataLoader(TensorDataset(x[:700], y[:700]), batch_size=32, shuffle=True)
for epoch in range(10):
    model.train()
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x[700:]).argmax(1) == y[700:]).float().mean().item())
