"""Trained in floating point first; from START on with four-bit weights in groups of 16 values."""

import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.nn import functional as F

torch.manual_seed(31)
EPOCHS, START, BITS, GROUP = 20, 8, 4, 16
top = 2 ** (BITS - 1) - 1
quantized = False


def rounded(w):
    groups = w.reshape(-1, GROUP)
    scale = groups.abs().amax(1, keepdim=True).clamp(min=1e-8) / top
    return ((groups / scale).round() * scale).reshape(w.shape)


class Linear(nn.Linear):
    def forward(self, x):
        w = self.weight
        if quantized:
            w = w + (rounded(w) - w).detach()
        return F.linear(x, w, self.bias)


x, y = make_classification(3000, 32, n_informative=16, n_classes=4, class_sep=1.6, random_state=2)
x, y = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32), torch.tensor(y)
net = nn.Sequential(Linear(32, 64), nn.ReLU(), Linear(64, 64), nn.ReLU(), Linear(64, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1.5e-3)
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
