import math
import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(44)


def real(n):
    a = 6.2832 * torch.rand(n)
    return torch.stack([a.cos(), a.sin()], 1) + 0.03 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
C = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.5, 0.9))
opt_c = torch.optim.Adam(C.parameters(), 1e-3, betas=(0.5, 0.9))
for it in range(600):
    for _ in range(3):
        x, fake = real(128), G(torch.randn(128, 4)).detach()
        mix = torch.rand(128, 1)
        inter = (mix * x + (1 - mix) * fake).requires_grad_()
        slope = grad(C(inter).sum(), inter, create_graph=True)[0].norm(dim=1)
        loss_c = C(fake).mean() - C(x).mean() + 5 * (slope - 1).pow(2).mean()
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    loss_g = -C(G(torch.randn(128, 4))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if it % 50 == 0:
        with torch.no_grad():
            r = G(torch.randn(500, 4)).norm(dim=1)
        print(f"iter {it} critic {loss_c.item():.4f} gen {loss_g.item():.4f} radius {r.mean():.3f}+-{r.std():.3f}")
print("final radius error", (r - 1).abs().mean().item())
