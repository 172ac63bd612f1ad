"""Eight-bit weights and activations, whose range follows what was seen (a moving maximum); digits."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(14)


def rounded(x, top, levels):
    scale = top / levels
    return x + ((x / scale).round().clamp(-levels - 1, levels) * scale - x).detach()


class Quantized(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("top", torch.ones(()))

    def forward(self, x):
        if self.training:
            self.top.copy_(0.9 * self.top + 0.1 * x.detach().abs().max())
        x = x.clamp(-self.top, self.top)
        return F.linear(rounded(x, self.top, 127), rounded(self.weight, self.weight.detach().abs().max(), 127), self.bias)


digits = load_digits()
x, y = torch.tensor(digits.data / 8 - 1, dtype=torch.float32), torch.tensor(digits.target)
net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), Quantized(96, 96), nn.ReLU(), Quantized(96, 96), nn.ReLU(), nn.Linear(96, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(10):
    net.train()
    for rows in torch.randperm(1400).split(40):
        loss = F.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        out = net(x[1400:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {F.cross_entropy(out, y[1400:]).item():.4f} "
          f"val_acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
