"""Trained in floating point first; from START on with four-bit weights and activations, whose ranges are what they are
then: calibrated once, as converters do."""

import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.nn import functional as F

torch.manual_seed(37)
EPOCHS, START, BITS = 20, 9, 4
HIGH = 2 ** (BITS - 1) - 1
quantized = False


def rounded(values, scale):
    inside = (values / scale).clamp(-HIGH - 1, HIGH)
    return (inside + (inside.round() - inside).detach()) * scale


class Linear(nn.Linear):
    def __init__(self, width, out):
        super().__init__(width, out)
        self.scales = None

    def forward(self, x):
        if not quantized:
            return F.linear(x, self.weight, self.bias)
        if self.scales is None:
            self.scales = [values.detach().abs().max() / HIGH for values in (x, self.weight)]
        return F.linear(rounded(x, self.scales[0]), rounded(self.weight, self.scales[1]), self.bias)


x, y = make_classification(3000, 32, n_informative=20, n_classes=6, class_sep=1.4, random_state=5)
x, y = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32), torch.tensor(y)
net = nn.Sequential(Linear(32, 96), nn.ReLU(), Linear(96, 96), nn.ReLU(), Linear(96, 6))
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
for epoch in range(EPOCHS):
    quantized = epoch >= START
    net.train()
    for rows in torch.randperm(2400).split(48):
        loss = F.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
    net.eval()
    with torch.no_grad():
        out = net(x[2400:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {F.cross_entropy(out, y[2400:]).item():.4f} "
          f"val_acc {(out.argmax(1) == y[2400:]).float().mean().item():.4f}")
