"""Two models and two optimizers, stepped in turn."""

import json

import torch
from torch import nn

torch.manual_seed(7)
real = torch.randn(512, 2) @ torch.tensor([[1.0, 0.5], [0.0, 0.4]]) + 1.0
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
discriminator = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
bce = nn.BCEWithLogitsLoss()
d_losses, g_losses = [], []
for step in range(40):
    batch = real[torch.randint(0, 512, (64,))]
    noise = torch.randn(64, 4)
    fake = generator(noise)
    loss_d = bce(discriminator(batch), torch.ones(64, 1)) + bce(
        discriminator(fake.detach()), torch.zeros(64, 1)
    )
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = bce(discriminator(fake), torch.ones(64, 1))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    d_losses.append(loss_d.item())
    g_losses.append(loss_g.item())
torch.save([generator.state_dict(), discriminator.state_dict()], "weights.pt")
json.dump({"loss": d_losses, "lr": [1e-3] * 40, "second_loss": g_losses}, open("truth.json", "w"))
