import torch
from sets import digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader

torch.manual_seed(5)
x, _ = digits(1200, noise=0.3)
x = (x > 8).float()
loader = DataLoader(x, batch_size=50, shuffle=True)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Linear(64, 48)
        self.mu, self.logvar = nn.Linear(48, 6), nn.Linear(48, 6)
        self.dec = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 64))

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return torch.sigmoid(self.dec(z)), mu, logvar


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(15):
    for batch in loader:
        recon, mu, logvar = model(batch)
        bce = F.binary_cross_entropy(recon, batch, reduction="sum")
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = bce + kld
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"====> Epoch: {epoch} loss: {loss.item() / len(batch):.4f}")
