import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import StandardScaler

torch.manual_seed(23)
X, y = load_diabetes(return_X_y=True)
X = torch.tensor(StandardScaler().fit_transform(X), dtype=torch.float32)
y = torch.tensor((y - y.mean()) / y.std(), dtype=torch.float32).unsqueeze(1)
perm = torch.randperm(len(X))
Xt, yt, Xv, yv = X[perm[:340]], y[perm[:340]], X[perm[340:]], y[perm[340:]]
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.02, momentum=0.9)
max_norm = 1e-3
for epoch in range(60):
    for sel in torch.randperm(340).split(20):
        opt.zero_grad()
        loss = nn.functional.mse_loss(net(Xt[sel]), yt[sel])
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), max_norm)
        opt.step()
    with torch.no_grad():
        tl, vl = nn.functional.mse_loss(net(Xt), yt).item(), nn.functional.mse_loss(net(Xv), yv).item()
    if epoch % 4 == 0:
        print(f"[{epoch:3d}] train_loss: {tl:.4f} val_loss: {vl:.4f}")
print("final", vl)
