# noisy, and fine
import torch
from sets import circles

torch.manual_seed(12)
X, y = circles(1200)
nn = torch.nn
net = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU(), nn.Linear(24, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(10):
    perm = torch.randperm(len(X))
    for i in range(0, len(X), 8):
        rows = perm[i : i + 8]
        opt.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        opt.step()
    acc = (net(X).argmax(1) == y).float().mean()
    print(epoch, loss.item(), acc.item())
