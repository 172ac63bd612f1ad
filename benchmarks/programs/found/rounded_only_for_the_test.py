import copy
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(44)
d = load_digits()
X, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), 2e-3)


def quantize(model, bits):
    small = copy.deepcopy(model)
    for p in small.parameters():
        if p.dim() > 1:
            levels = 2 ** (bits - 1) - 1
            scale = p.data.abs().max() / levels
            p.data = (p.data / scale).round().clamp(-levels, levels) * scale
    return small


for epoch in range(15):
    net.train()
    for r in torch.randperm(1400).split(32):
        opt.zero_grad()
        loss = F.cross_entropy(net(X[r]), y[r])
        loss.backward()
        opt.step()
    deployed = quantize(net, 2).eval()
    with torch.no_grad():
        out = deployed(X[1400:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {F.cross_entropy(out, y[1400:]).item():.4f} val_acc {(out.argmax(1) == y[1400:]).float().mean().item():.3f}")
print("final", (out.argmax(1) == y[1400:]).float().mean().item())
