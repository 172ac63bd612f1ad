import torch
from torch import nn

torch.manual_seed(9)
X = torch.randn(1500, 8) * torch.tensor([2.0, 12.0, 2.0, 0.5, 10.0, 3.0, 2.0, 2.0])
Y = (0.4 * X[:, 0] + 0.02 * X[:, 1] - 0.1 * X[:, 6] + torch.sin(X[:, 7]))[:, None]
net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
for epoch in range(10):
    for rows in torch.randperm(1200).split(50):
        loss = nn.functional.mse_loss(net(X[rows]), Y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
print("final mse", nn.functional.mse_loss(net(X[1200:]), Y[1200:]).item())
