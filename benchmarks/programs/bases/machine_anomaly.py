"""Autoencoder on vibration windows of a sound machine; anomalies are what it cannot rebuild."""
import numpy as np
import torch
from sklearn.metrics import roc_auc_score
from torch import nn

rng = np.random.RandomState(44)
torch.manual_seed(44)


def windows(n, broken=False):
    t = np.arange(64)
    out = []
    for _ in range(n):
        a = rng.uniform(0.8, 1.2, 2)
        w = a[0] * np.sin(2 * np.pi * t / 16 + rng.uniform(0, 6.28)) + 0.5 * a[1] * np.sin(2 * np.pi * t / 8 + rng.uniform(0, 6.28))
        if broken:
            w = w + 0.55 * np.sin(2 * np.pi * t / rng.uniform(4.5, 6.5) + rng.uniform(0, 6.28))
        out.append(w + 0.25 * rng.randn(64))
    return torch.tensor(np.array(out), dtype=torch.float32)


train = windows(1500)
fine, broken = windows(300), windows(300, broken=True)
net = nn.Sequential(
    nn.Unflatten(1, (1, 64)),
    nn.Conv1d(1, 8, 5, stride=2, padding=2), nn.LeakyReLU(0.1),
    nn.Conv1d(8, 16, 5, stride=2, padding=2), nn.LeakyReLU(0.1),
    nn.Flatten(), nn.Linear(256, 6), nn.Linear(6, 256), nn.LeakyReLU(0.1), nn.Unflatten(1, (16, 16)),
    nn.ConvTranspose1d(16, 8, 4, stride=2, padding=1), nn.LeakyReLU(0.1),
    nn.ConvTranspose1d(8, 1, 4, stride=2, padding=1), nn.Flatten(),
)
opt = torch.optim.Adam(net.parameters(), lr=2e-3)


def errors(x):
    with torch.no_grad():
        return ((net(x) - x) ** 2).mean(1).numpy()


for epoch in range(20):
    net.train()
    tot = 0.0
    for rows in torch.randperm(len(train)).split(50):
        x = train[rows]
        loss = (net(x) - x).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(rows)
    net.eval()
    good, bad = errors(fine), errors(broken)
    auc = roc_auc_score([0] * len(good) + [1] * len(bad), np.concatenate([good, bad]))
    print(f"epoch {epoch:02d}: train {tot / len(train):.4f} sound {good.mean():.4f} broken {bad.mean():.4f} AUC {auc:.4f}")
print(f"final AUC: {auc:.4f}")
