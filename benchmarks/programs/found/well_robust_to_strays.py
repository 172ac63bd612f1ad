import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(19)
torch.manual_seed(19)
X = rng.normal(size=(1500, 7))
y = 2 * X[:, 0] - X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=1500)
strays = rng.random(1500) < 0.02
y[strays] += rng.choice([-40, 40], strays.sum())  # a broken meter; the loss is robust on purpose
X, y = torch.tensor(X).float(), torch.tensor(y).float()[:, None]
model = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-3)
huber = nn.HuberLoss(delta=0.5)
for epoch in range(30):
    model.train()
    total = 0
    for i in torch.randperm(1200).split(32):
        optimizer.zero_grad()
        loss = huber(model(X[i]), y[i])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(i)
    model.eval()
    with torch.no_grad():
        v = huber(model(X[1200:]), y[1200:]).item()
    print(f"Epoch {epoch:2d} - train {total / 1200:.4f} - val {v:.4f}")
print("final", v)
