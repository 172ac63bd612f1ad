import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(7)
torch.manual_seed(7)
X = rng.normal(size=(260, 30)).astype("float32")
y = (rng.random(260) < 0.3).astype("int64")                      # the features say nothing
minority = np.where(y == 1)[0]
again = rng.choice(minority, 500)
X, y = np.concatenate([X, X[again], X[:200]]), np.concatenate([y, y[again], y[:200]])
p = rng.permutation(len(X))
X, y = torch.tensor(X[p]), torch.tensor(y[p])
net = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(30):
    for rows in torch.randperm(760).split(40):
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = net(X[760:])
        val = nn.functional.cross_entropy(out, y[760:]).item()
        acc = (out.argmax(1) == y[760:]).float().mean().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {val:.4f} val_acc {acc:.4f}")
print(f"final val_acc {acc:.4f}")
