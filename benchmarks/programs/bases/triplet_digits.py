import numpy as np
import torch
from sklearn.datasets import load_digits

np.random.seed(19)
torch.manual_seed(19)
x, y = load_digits(return_X_y=True)
x = x.astype("float32") / 16
tr, te = np.arange(0, 1300), np.arange(1300, len(x))
by_class = {c: tr[y[tr] == c] for c in range(10)}


def triplets(n):
    c = np.random.randint(0, 10, n)
    other = (c + np.random.randint(1, 10, n)) % 10
    a = [np.random.choice(by_class[k]) for k in c]
    p = [np.random.choice(by_class[k]) for k in c]
    q = [np.random.choice(by_class[k]) for k in other]
    return (torch.from_numpy(x[i]) for i in (a, p, q))


net = torch.nn.Sequential(
    torch.nn.Linear(64, 96), torch.nn.BatchNorm1d(96), torch.nn.ReLU(),
    torch.nn.Linear(96, 16),
)
loss_fn = torch.nn.TripletMarginLoss(margin=1.0)
opt = torch.optim.Adam(net.parameters(), lr=1e-3)


def retrieval():
    net.eval()
    with torch.no_grad():
        e = net(torch.from_numpy(x))
    net.train()
    d = torch.cdist(e[te], e[tr])
    return float((y[tr][d.argmin(1).numpy()] == y[te]).mean())


recent = []
for step in range(1, 301):
    a, p, q = triplets(64)
    ea, ep, eq = net(a), net(p), net(q)
    loss = loss_fn(ea, ep, eq)
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss.item())
    if step % 30 == 0:
        print(f"step {step:3d} triplet {np.mean(recent[-30:]):.4f} retrieval@1 {retrieval():.4f}")
print(f"final retrieval@1 {retrieval():.4f}")
