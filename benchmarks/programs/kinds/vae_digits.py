"""A variational autoencoder on the digits of scikit-learn, after the PyTorch example and in its print."""

import json

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

SEED = 1
EPOCHS, BATCH, LATENT, LR, BETA = 40, 64, 8, 2e-3, 1.0
torch.manual_seed(SEED)
digits = load_digits()
x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
train, test, train_y, test_y = x[:1400], x[1400:], y[:1400], y[1400:]


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc21, self.fc22 = nn.Linear(64, 128), nn.Linear(128, LATENT), nn.Linear(128, LATENT)
        self.fc3, self.fc4 = nn.Linear(LATENT, 128), nn.Linear(128, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def reparameterize(self, mu, logvar):
        return mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = self.reparameterize(mu, logvar)
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z)))), mu, logvar


def losses(recon, x, mu, logvar):
    bce = F.binary_cross_entropy(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return bce / len(x), kld / len(x)


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=LR)
for epoch in range(1, EPOCHS + 1):
    model.train()
    total = 0.0
    order = torch.randperm(len(train))
    for batch, rows in enumerate(order.split(BATCH)):
        data = train[rows]
        recon, mu, logvar = model(data)
        bce, kld = losses(recon, data, mu, logvar)
        loss = bce + BETA * kld
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(data)
        if batch % 8 == 0:
            print(f"Train Epoch: {epoch} [{batch * BATCH}/{len(train)}] Loss: {loss.item():.4f} "
                  f"recon_loss: {bce.item():.4f} kld: {kld.item():.4f}")
    print(f"====> Epoch: {epoch} Average loss: {total / len(train):.4f}")
    model.eval()
    with torch.no_grad():
        recon, mu, logvar = model(test)
        bce, kld = losses(recon, test, mu, logvar)
    print(f"====> Test set loss: {(bce + BETA * kld).item():.4f}", flush=True)
with torch.no_grad():
    codes, held = model.encode(train)[0], model.encode(test)[0]
    nearest = torch.cdist(held, codes).argmin(1)
    recon = model(test)[0]
    z = torch.randn(1000, LATENT)
    samples = torch.sigmoid(model.fc4(F.relu(model.fc3(z))))
reach = torch.cdist(test, test).kthvalue(6, 1).values
near = torch.cdist(test, samples) < reach[:, None]
json.dump({"explained": 1 - ((recon - test) ** 2).sum().item() / ((test - test.mean(0)) ** 2).sum().item(),
           "digit by code": (train_y[nearest] == test_y).float().mean().item(),
           "coverage": near.any(1).float().mean().item(), "precision": near.any(0).float().mean().item()},
          open("check.json", "w"))  # fmt: skip
