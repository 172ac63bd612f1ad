import torch
from torch import nn

torch.manual_seed(9)
G = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(700):
    centre = torch.randint(0, 4, (64,))
    angle = centre * 1.5708
    real = torch.stack([angle.cos(), angle.sin()], 1) + 0.1 * torch.randn(64, 2)
    fake = G(torch.randn(64, 4))
    loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = bce(D(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 100 == 0:
        print(f"[{step}] D {loss_d.item():.3f} G {loss_g.item():.3f}")
