# quantile (pinball) regression of hourly energy load
import numpy as np
import torch

np.random.seed(12)
torch.manual_seed(12)
hours = np.arange(24 * 120)
temp = 12 + 9 * np.sin(2 * np.pi * hours / (24 * 60)) + 4 * np.sin(2 * np.pi * (hours % 24 - 9) / 24)
temp = temp + np.random.randn(len(hours))
weekend = ((hours // 24) % 7 >= 5).astype(float)
load = 50 + 12 * np.sin(2 * np.pi * (hours % 24 - 7) / 24) - 9 * weekend + 0.06 * (temp - 16) ** 2
load = load + np.random.gamma(2.0, 1.2, len(hours))

feats = np.stack([np.sin(2 * np.pi * hours / 24), np.cos(2 * np.pi * hours / 24), np.sin(4 * np.pi * hours / 24),
                  np.cos(4 * np.pi * hours / 24), weekend, (temp - 12) / 8], axis=1)
target = (load - load.mean()) / load.std()
pick = np.random.permutation(len(hours))
tr, va = pick[:2300], pick[2300:]
F = torch.tensor(feats, dtype=torch.float32)
T = torch.tensor(target, dtype=torch.float32)[:, None]
taus = torch.tensor([0.1, 0.5, 0.9])


def pinball(pred, true):
    e = true - pred
    return torch.maximum(taus * e, (taus - 1) * e).mean()


net = torch.nn.Sequential(torch.nn.Linear(6, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 3))
optim = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for epoch in range(20):
    np.random.shuffle(tr)
    acc = []
    for i in range(0, len(tr), 64):
        b = tr[i:i + 64]
        loss = pinball(net(F[b]), T[b])
        optim.zero_grad()
        loss.backward()
        optim.step()
        acc.append(loss.item())
    with torch.no_grad():
        q = net(F[va])
        v = pinball(q, T[va]).item()
        cover = ((T[va] > q[:, :1]) & (T[va] < q[:, 2:])).float().mean().item()
    print("%d\ttrain %.4f\tvalid %.4f\tcoverage %.2f" % (epoch, np.mean(acc), v, cover))
print("final pinball %.4f" % v)
