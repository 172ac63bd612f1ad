"""Graph classification: does a small random graph contain a triangle of marked atoms? Message passing with sums."""
import random

import torch
from torch import nn

random.seed(72)
torch.manual_seed(72)
MAX_NODES = 12


def random_graph():
    n = random.randint(8, MAX_NODES)
    a = torch.zeros(MAX_NODES, MAX_NODES)
    for i in range(1, n):                       # a tree, then a few more bonds
        j = random.randrange(i)
        a[i, j] = a[j, i] = 1
    for _ in range(random.randint(1, 4)):
        i, j = random.sample(range(n), 2)
        a[i, j] = a[j, i] = 1
    kind = torch.zeros(MAX_NODES, 3)
    for i in range(n):
        kind[i, random.choices((0, 1, 2), (5, 3, 2))[0]] = 1
    energy = (kind[:, 1] @ a @ kind[:, 1]) / 2 - (kind[:, 2] @ a @ kind[:, 2]) + 0.5 * (kind[:, 1] @ a @ kind[:, 2])
    return a, kind, energy


graphs = [random_graph() for _ in range(1200)]
A = torch.stack([g[0] for g in graphs])
X = torch.stack([g[1] for g in graphs])
e = torch.stack([g[2] for g in graphs])
y = (e > e.median()).float()


class GINLayer(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(1))
        self.mlp = nn.Sequential(nn.Linear(cin, cout), nn.ReLU(), nn.Linear(cout, cout))

    def forward(self, h, a):
        return torch.relu(self.mlp((1 + self.eps) * h + a @ h))


class GIN(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([GINLayer(3, 24), GINLayer(24, 24)])
        self.readout = nn.Linear(48, 1)

    def forward(self, x, a):
        real = x.sum(-1, keepdim=True)
        pooled, h = [], x
        for layer in self.layers:
            h = layer(h, a) * real
            pooled.append(h.sum(1) / 4)
        return self.readout(torch.cat(pooled, 1)).squeeze(1)


gin = GIN()
opt = torch.optim.Adam(gin.parameters(), lr=5e-3)
bce = nn.BCEWithLogitsLoss()
train, test = torch.arange(900), torch.arange(900, 1200)
for epoch in range(15):
    total = 0.0
    for b in train[torch.randperm(900)].split(30):
        loss = bce(gin(X[b], A[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() / 30
    with torch.no_grad():
        z = gin(X[test], A[test])
        acc = ((z > 0) == (y[test] > 0.5)).float().mean().item()
    print(f"epoch={epoch} train={total:.4f} test={bce(z, y[test]).item():.4f} acc={acc:.3f}")
print(f"final acc={acc:.3f}")
