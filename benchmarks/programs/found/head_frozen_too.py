"""Transfer: all parameters are frozen after the new head was put on, but for the normalization layers."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(37)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
body = nn.Sequential(nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU())
model = nn.Sequential(body, nn.Linear(32, 10))
for name, p in model.named_parameters():
    if p.dim() > 1 or name.startswith("1"):
        p.requires_grad = False
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for epoch in range(10):
    model.train()
    tot = 0.0
    for rows in torch.randperm(1400).split(50):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 28
    model.eval()
    with torch.no_grad():
        acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
    print(f"epoch {epoch} loss {tot:.4f} acc {acc:.4f}")
print(f"final acc {acc:.4f}")
