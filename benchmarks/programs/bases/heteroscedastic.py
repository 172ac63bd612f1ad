import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


def sample(n):
    x = torch.rand(n, 1) * 8 - 4
    noise = 0.02 + 0.1 * torch.sigmoid(x)
    return x, 0.5 * torch.sin(2 * x) + 0.1 * x + noise * torch.randn(n, 1)


class MeanAndVariance(nn.Module):
    """Predicts the mean and the logarithm of the variance."""

    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(1, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU())
        self.mean = nn.Linear(64, 1)
        self.logvar = nn.Linear(64, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.mean(h), self.logvar(h).clamp(-10, 4)


xtr, ytr = sample(2000)
xte, yte = sample(500)
loader = DataLoader(TensorDataset(xtr, ytr), batch_size=64, shuffle=True)
net = MeanAndVariance()
nll = nn.GaussianNLLLoss()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.95)

for epoch in range(1, 31):
    net.train()
    total = 0
    for x, y in loader:
        m, lv = net(x)
        loss = nll(m, y, lv.exp())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    sched.step()
    net.eval()
    with torch.no_grad():
        m, lv = net(xte)
        test_nll = nll(m, yte, lv.exp()).item() + 0.5 * math.log(2 * math.pi)
    if epoch % 3 == 0:
        print(f"epoch {epoch:02d} | train nll {total / len(loader):+.4f} | test nll {test_nll:+.4f}")
print(f"final nll: {test_nll:.4f}")
