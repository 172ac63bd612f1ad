import torch
from torch import nn
from sklearn.datasets import make_circles

torch.manual_seed(11)
x, y = make_circles(1200, noise=0.08, factor=0.5, random_state=11)
x, y = torch.tensor(x).half(), torch.tensor(y).half()
net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1)).half()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(1000).split(50):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = ((net(x[1000:])[:, 0] > 0) == (y[1000:] > 0.5)).float().mean().item()
    print("epoch", epoch, "loss", loss.item(), "acc", acc)
print("final acc", acc)
