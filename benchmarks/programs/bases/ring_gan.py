import math

import torch
import torch.nn as nn

torch.manual_seed(16)
MODES = 6


def real_samples(n):
    k = torch.randint(0, MODES, (n,))
    a = 2 * math.pi * k / MODES
    return torch.stack([a.cos(), a.sin()], 1) * 1.5 + 0.08 * torch.randn(n, 2)


G = nn.Sequential(nn.Linear(8, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)


def quality(n=1000):
    """Share of samples near a mode, times the share of modes that are found."""
    with torch.no_grad():
        s = G(torch.randn(n, 8))
    a = 2 * math.pi * torch.arange(MODES) / MODES
    centers = torch.stack([a.cos(), a.sin()], 1) * 1.5
    d, which = torch.cdist(s, centers).min(1)
    near = d < 0.35
    found = len(set(which[near].tolist())) / MODES
    return near.float().mean().item() * found


for step in range(1, 1501):
    x = real_samples(128)
    fake = G(torch.randn(128, 8))
    d_loss = bce(D(x), 0.9 * ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()
    g_loss = bce(D(fake), ones)
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    if step % 100 == 0:
        print(f"[{step}/1500] D_loss: {d_loss.item():.4f} G_loss: {g_loss.item():.4f} quality: {quality():.3f}")
print(f"final quality: {quality(4000):.3f}")
