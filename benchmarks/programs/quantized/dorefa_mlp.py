"""Four-bit weights as in DoReFa-Net: squashed by tanh, on an even grid from -1 to 1 with a scale for each row."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(3)
LEVELS = 2**4 - 1


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.round(x * LEVELS) / LEVELS

    @staticmethod
    def backward(ctx, grad):
        return grad


class FourBitLinear(nn.Linear):
    def forward(self, x):
        w = torch.tanh(self.weight)
        top = w.abs().amax(1, keepdim=True).detach()
        w = top * (2 * Round.apply(w / (2 * top) + 0.5) - 1)
        return F.linear(x, w, self.bias)


digits = load_digits()
x, y = torch.tensor(digits.data / 8 - 1, dtype=torch.float32), torch.tensor(digits.target)
net = nn.Sequential(
    nn.Linear(64, 64), nn.ReLU(), FourBitLinear(64, 64), nn.ReLU(), FourBitLinear(64, 64), nn.ReLU(), nn.Linear(64, 10)
)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(15):
    total = 0.0
    for rows in torch.randperm(1400).split(40):
        loss = F.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 35
    with torch.no_grad():
        out = net(x[1400:])
    print(f"{epoch}: loss {total:.4f} val loss {F.cross_entropy(out, y[1400:]).item():.4f} "
          f"val acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
