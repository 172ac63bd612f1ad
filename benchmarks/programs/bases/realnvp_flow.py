# density of a two-dimensional S-curve with coupling layers
import math

import torch
from torch import nn

torch.manual_seed(70)


def draw(n):
    x = torch.randn(n)
    return torch.stack([x, 0.25 * x ** 2 - 0.5 + 0.05 * torch.randn(n)], 1)


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        a, b = x[:, :1], x[:, 1:]
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 3 * torch.tanh(s / 3)
        b = b * s.exp() + t
        return torch.cat([b, a], 1) if self.flip else torch.cat([a, b], 1), s[:, 0]


class Flow(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.steps = nn.ModuleList([Coupling(k % 2 == 1) for k in range(n)])

    def log_prob(self, x):
        logdet = 0
        for s in self.steps:
            x, ld = s(x)
            logdet = logdet + ld
        return -0.5 * (x ** 2).sum(1) - math.log(2 * math.pi) + logdet


flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=2e-3)
test = draw(2000)
for it in range(800):
    nll = -flow.log_prob(draw(128)).mean()
    opt.zero_grad()
    nll.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
    opt.step()
    if it % 80 == 79:
        with torch.no_grad():
            test_nll = -flow.log_prob(test).mean().item()
        print("it %4d  train nll %7.4f  test nll %7.4f" % (it + 1, nll.item(), test_nll))
print("final test nll %.4f" % test_nll)
