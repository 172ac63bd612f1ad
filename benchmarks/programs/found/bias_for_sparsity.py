import torch
import torch.nn as nn
import torch.nn.functional as F


class SparseNet(nn.Module):
    """Starts sparse: biases at -4, so that few units fire."""

    def __init__(self):
        super().__init__()
        self.a = nn.Linear(12, 64)
        self.b = nn.Linear(64, 64)
        self.c = nn.Linear(64, 1)
        for layer in (self.a, self.b):
            nn.init.constant_(layer.bias, -4.0)

    def forward(self, x):
        return self.c(F.relu(self.b(F.relu(self.a(x)))))


torch.manual_seed(13)
x = torch.randn(1000, 12)
y = (x[:, :3] ** 2).sum(1, keepdim=True) - 3
y = y / y.std()
net = SparseNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(20):
    for chunk in torch.randperm(800).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(net(x[chunk]), y[chunk])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print("epoch", epoch, "loss", round(loss.item(), 4), "val_loss", round(F.mse_loss(net(x[800:]), y[800:]).item(), 4))
print("final", F.mse_loss(net(x[800:]), y[800:]).item())
