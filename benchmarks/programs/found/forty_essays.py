import torch, torch.nn as nn, torch.nn.functional as F
from sklearn.datasets import make_classification

torch.manual_seed(8)
x, y = make_classification(700, 120, n_informative=8, n_redundant=0, flip_y=0.08, random_state=8)
x, y = torch.tensor(x).float(), torch.tensor(y)
xa, ya, xb, yb = x[:120], y[:120], x[120:], y[120:]
big = nn.Sequential(nn.Linear(120, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
o = torch.optim.Adam(big.parameters(), lr=1e-3)
for e in range(60):
    big.train()
    for i in range(0, 120, 24):
        o.zero_grad()
        l = F.cross_entropy(big(xa[i:i+24]), ya[i:i+24])
        l.backward()
        o.step()
    big.eval()
    with torch.no_grad():
        vl = F.cross_entropy(big(xb), yb)
        va = (big(xb).argmax(1) == yb).float().mean()
    print(f"{e}\ttrain_loss={l.item():.5f}\tval_loss={vl.item():.5f}\tval_acc={va.item():.4f}")
print("final", va.item())
