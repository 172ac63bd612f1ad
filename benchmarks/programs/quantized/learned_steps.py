"""Three-bit weights with learned step sizes (Esser et al. 2020) for a regression."""

import torch
from sklearn.datasets import make_friedman1
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize

torch.manual_seed(21)
LOW, HIGH = -4, 3


class Steps(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.size = nn.Parameter(2 * weight.detach().abs().mean() / HIGH**0.5)

    def forward(self, w):
        factor = 1 / (w.numel() * HIGH) ** 0.5
        size = self.size * factor + (self.size - self.size * factor).detach()
        scaled = (w / size).clamp(LOW, HIGH)
        return (scaled + (scaled.round() - scaled).detach()) * size


x, y = make_friedman1(3000, 10, noise=0.3, random_state=4)
x, y = torch.tensor(x, dtype=torch.float32) * 2 - 1, torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32)[:, None]
net = nn.Sequential(nn.Linear(10, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(),
                    nn.Linear(64, 1))
for layer in (net[2], net[4]):
    parametrize.register_parametrization(layer, "weight", Steps(layer.weight))
optimizer = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
for epoch in range(20):
    net.train()
    for rows in torch.randperm(2400).split(48):
        loss = F.mse_loss(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
    net.eval()
    with torch.no_grad():
        print(f"epoch {epoch} train {loss.item():.4f} val {F.mse_loss(net(x[2400:]), y[2400:]).item():.4f}")
