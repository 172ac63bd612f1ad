import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(15)
d = load_digits()
X, Y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
body = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU())
pre = nn.Sequential(body, nn.Linear(48, 64))
o = torch.optim.Adam(pre.parameters(), 2e-3)
for _ in range(400):  # pretraining: reconstruct
    xb = X[torch.randint(1200, (64,))]
    l = (pre(xb) - xb).pow(2).mean()
    o.zero_grad(); l.backward(); o.step()

for p in body.parameters():
    p.requires_grad = False
head = nn.Sequential(nn.Linear(48, 64), nn.ReLU(), nn.Linear(64, 10))
model = nn.Sequential(body, head)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3)
for epoch in range(20):
    model.train()
    body.eval()
    tot = 0
    for rows in torch.randperm(1200).split(40):
        loss = nn.functional.cross_entropy(model(X[rows]), Y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(X[1400:])
    print(f"epoch {epoch} loss {tot / 30:.4f} val_loss {nn.functional.cross_entropy(out, Y[1400:]).item():.4f} val_acc {(out.argmax(1) == Y[1400:]).float().mean().item():.4f}")
print("final", (out.argmax(1) == Y[1400:]).float().mean().item())
