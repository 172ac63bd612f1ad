import torch
from sets import scaled_digits
from torch import nn


class Quantized(nn.Module):
    def forward(self, x):
        return torch.round(x * 4) / 4


torch.manual_seed(8)
X, y = scaled_digits(1000)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), Quantized(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(20):
    for rows in torch.randperm(1000).split(40):
        loss = criterion(model(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
