"""WGAN with gradient penalty on a ring of eight Gaussians, printed as PyTorch-GAN does."""

import json
import math

import torch
from torch import nn

SEED = 1
EPOCHS, BATCHES, BATCH, NZ, LR, N_CRITIC, LAMBDA_GP = 60, 50, 128, 8, 2e-3, 2, 0.1
torch.manual_seed(SEED)
angles = torch.arange(8) * (2 * math.pi / 8)
centers = 2 * torch.stack([angles.cos(), angles.sin()], 1)


def real_points(n):
    return centers[torch.randint(0, 8, (n,))] + 0.05 * torch.randn(n, 2)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(NZ, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))

    def forward(self, x):
        return self.model(x)


def compute_gradient_penalty(D, real, fake):
    alpha = torch.rand(len(real), 1)
    between = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    gradients = torch.autograd.grad(D(between).sum(), between, create_graph=True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


generator, discriminator = Generator(), Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=LR, betas=(0.5, 0.9))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=LR, betas=(0.5, 0.9))
for epoch in range(EPOCHS):
    for i in range(BATCHES):
        real, fake = real_points(BATCH), generator(torch.randn(BATCH, NZ)).detach()
        d_loss = discriminator(fake).mean() - discriminator(real).mean()
        d_loss = d_loss + LAMBDA_GP * compute_gradient_penalty(discriminator, real, fake)
        optimizer_D.zero_grad()
        d_loss.backward()
        optimizer_D.step()
        if i % N_CRITIC == 0:
            g_loss = -discriminator(generator(torch.randn(BATCH, NZ))).mean()
            optimizer_G.zero_grad()
            g_loss.backward()
            optimizer_G.step()
        if i % 10 == 0:
            print("[Epoch %d/%d] [Batch %d/%d] [D loss: %f] [G loss: %f]"
                  % (epoch, EPOCHS, i, BATCHES, d_loss.item(), g_loss.item()), flush=True)  # fmt: skip
with torch.no_grad():
    distance, nearest = torch.cdist(generator(torch.randn(2000, NZ)), centers).min(1)
good = distance < 0.3
share = torch.bincount(nearest[good], minlength=8) / 2000
json.dump({"good samples": good.float().mean().item(), "modes": int((share > 0.02).sum())}, open("check.json", "w"))
