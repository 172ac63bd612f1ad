"""Variational autoencoder on binarized digits."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader

torch.manual_seed(33)
binary = (torch.tensor(load_digits().data) > 7).float()
train_loader = DataLoader(binary[:1500], batch_size=50, shuffle=True)
test_loader = DataLoader(binary[1500:], batch_size=100)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 80)
        self.fc21 = nn.Linear(80, 8)
        self.fc22 = nn.Linear(80, 8)
        self.fc3 = nn.Linear(8, 80)
        self.fc4 = nn.Linear(80, 64)

    def encode(self, x):
        h = F.relu(self.fc1(x))
        return self.fc21(h), self.fc22(h)

    def decode(self, z):
        return self.fc4(F.relu(self.fc3(z)))

    def forward(self, x):
        mu, logvar = self.encode(x)
        z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar)
        return self.decode(z), mu, logvar


def elbo_loss(recon, x, mu, logvar):
    bce = F.binary_cross_entropy_with_logits(recon, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return (bce + kld) / len(x)


model = VAE()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(1, 16):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss = elbo_loss(recon, data, mu, logvar)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * len(data)
        if batch_idx % 10 == 0:
            print("Train Epoch: {} [{}/{}]\tLoss: {:.6f}".format(epoch, batch_idx * len(data), 1500, loss.item()))
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data in test_loader:
            recon, mu, logvar = model(data)
            test_loss += elbo_loss(recon, data, mu, logvar).item() * len(data)
    test_loss /= len(binary) - 1500
    print("====> Epoch: {} Average loss: {:.4f} Test set loss: {:.4f}".format(epoch, train_loss / 1500, test_loss))
print("====> Final test loss: {:.4f}".format(test_loss))
