"""DCGAN on the digits of scikit-learn (8 x 8), after the PyTorch example and in its print."""

import json

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = 1
EPOCHS, BATCH, NZ, LR_G, LR_D, BETA1 = 40, 64, 16, 1e-3, 5e-4, 0.5
torch.manual_seed(SEED)
images = torch.tensor(load_digits().images, dtype=torch.float32)[:, None] / 8 - 1
train, held = images[:1400], images[1400:]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(NZ, 64, 2, bias=False), nn.BatchNorm2d(64), nn.ReLU(True),
            nn.ConvTranspose2d(64, 32, 4, 2, 1, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
            nn.ConvTranspose2d(32, 1, 4, 2, 1), nn.Tanh())

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, 32, 4, 2, 1), nn.LeakyReLU(0.2, True),
            nn.Conv2d(32, 64, 4, 2, 1, bias=False), nn.BatchNorm2d(64), nn.LeakyReLU(0.2, True),
            nn.Conv2d(64, 1, 2), nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1)


def weights_init(m):
    if "Conv" in type(m).__name__:
        nn.init.normal_(m.weight, 0.0, 0.05)
    elif "BatchNorm" in type(m).__name__:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


def quality(fake):
    """Coverage of the held-out digits by the samples, and their precision, by the fifth neighbour of each real one."""
    real, fake = held.flatten(1), fake.flatten(1)
    reach = torch.cdist(real, real).kthvalue(6, 1).values
    near = torch.cdist(real, fake) < reach[:, None]
    return {"coverage": near.any(1).float().mean().item(), "precision": near.any(0).float().mean().item()}


netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCELoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=LR_D, betas=(BETA1, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=LR_G, betas=(BETA1, 0.999))
batches = len(train) // BATCH
for epoch in range(EPOCHS):
    order = torch.randperm(len(train))
    for i in range(batches):
        real = train[order[i * BATCH:(i + 1) * BATCH]]
        ones, zeros = torch.ones(BATCH), torch.zeros(BATCH)
        # (1) Update D network: maximize log(D(x)) + log(1 - D(G(z)))
        netD.zero_grad()
        output = netD(real)
        errD_real = criterion(output, ones)
        D_x = output.mean().item()
        noise = torch.randn(BATCH, NZ, 1, 1)
        fake = netG(noise)
        output = netD(fake.detach())
        errD_fake = criterion(output, zeros)
        D_G_z1 = output.mean().item()
        errD = errD_real + errD_fake
        errD.backward()
        optimizerD.step()
        # (2) Update G network: maximize log(D(G(z)))
        netG.zero_grad()
        output = netD(fake)
        errG = criterion(output, ones)
        errG.backward()
        D_G_z2 = output.mean().item()
        optimizerG.step()
        if i % 7 == 0:
            print(f"[{epoch}/{EPOCHS}][{i}/{batches}] Loss_D: {errD.item():.4f} Loss_G: {errG.item():.4f} "
                  f"D(x): {D_x:.4f} D(G(z)): {D_G_z1:.4f} / {D_G_z2:.4f}", flush=True)
netG.eval()
with torch.no_grad():
    samples = netG(torch.randn(1000, NZ, 1, 1))
json.dump(quality(samples), open("check.json", "w"))
