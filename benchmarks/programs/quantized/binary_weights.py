"""Binary weights with a scale for each filter (as XNOR-Net) between a float first and last layer; digits."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(8)


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        return grad


class BinaryConv2d(nn.Conv2d):
    def forward(self, x):
        scale = self.weight.abs().mean((1, 2, 3), keepdim=True).detach()
        return F.conv2d(x, scale * Sign.apply(self.weight), self.bias, self.stride, self.padding)


digits = load_digits()
x, y = torch.tensor(digits.images / 16, dtype=torch.float32)[:, None], torch.tensor(digits.target)
net = nn.Sequential(
    nn.Conv2d(1, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(),
    BinaryConv2d(24, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
    BinaryConv2d(24, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)
EPOCHS = 8
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
for epoch in range(EPOCHS):
    net.train()
    for rows in torch.randperm(1400).split(50):
        loss = F.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    schedule.step()
    net.eval()
    with torch.no_grad():
        out = net(x[1400:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {F.cross_entropy(out, y[1400:]).item():.4f} "
          f"val_acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
