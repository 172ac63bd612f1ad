import torch
import torch.nn as nn

torch.manual_seed(77)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
og = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
od = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
bce = nn.BCEWithLogitsLoss()


def real(n):
    t = torch.rand(n) * 3.1416
    return torch.stack([t.cos(), t.sin()], 1) + 0.05 * torch.randn(n, 2)


for it in range(600):
    r, f = real(64), G(torch.randn(64, 4))
    d_loss = bce(D(r), torch.ones(64, 1)) + bce(D(f.detach()), torch.zeros(64, 1))
    od.zero_grad()
    d_loss.backward()
    od.step()
    g_loss = bce(D(G(torch.randn(64, 4))), torch.ones(64, 1))
    og.zero_grad()
    g_loss.backward()
    og.step()
    if it % 30 == 0:
        print(f"[{it}/600] Loss_D: {d_loss.item():.4f} Loss_G: {g_loss.item():.4f}")
with torch.no_grad():
    s = G(torch.randn(500, 4))
print("final on the arc", ((s.norm(dim=1) - 1).abs() < 0.2).float().mean().item())
