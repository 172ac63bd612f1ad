import torch
from torch import nn
import numpy as np

torch.manual_seed(61)
t = torch.linspace(0, 1, 48)


def waves(n):
    f = torch.randint(1, 5, (n, 1)) + 0.3 * torch.rand(n, 1)
    p = 6.28 * torch.rand(n, 1)
    a = 0.5 + torch.rand(n, 1)
    return a * torch.sin(6.28 * f * t + p)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 6))
        self.dec = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 48))

    def forward(self, x):
        code = self.enc(x)
        code = torch.from_numpy(np.clip(code.detach().numpy(), -3, 3))
        return self.dec(code)


data, held = waves(2400), waves(400)
coder = Coder()
opt = torch.optim.Adam(coder.parameters(), lr=2e-3)
for ep in range(15):
    tot = 0.0
    for b in data[torch.randperm(2400)].split(60):
        loss = (coder(b) - b).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    with torch.no_grad():
        v = (coder(held) - held).pow(2).mean().item()
    print(f"epoch {ep:2d} loss {tot / 40:.5f} val {v:.5f}")
print("final val", v)
