import torch
from torch import nn
from sklearn.datasets import load_iris

torch.manual_seed(28)
x, y = load_iris(return_X_y=True)
x, y = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32), torch.tensor(y)
net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)


def pair_loss(e, t):
    d = ((e[:, None] - e[None]) ** 2).sum(-1).sqrt()
    same = (t[:, None] == t[None]).float()
    return (same * d + (1 - same) * torch.relu(2.0 - d)).mean()


for step in range(120):
    b = torch.randperm(150)[:40]
    loss = pair_loss(net(x[b]), y[b])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"final loss {loss.item():.4f}")
