import torch
from torch import nn

torch.manual_seed(30)
t = torch.linspace(0, 6.28, 32)


def signals(n):
    return (0.5 + torch.rand(n, 1)) * torch.sin((1 + 2 * torch.rand(n, 1)) * t + 6.28 * torch.rand(n, 1)) + 0.05 * torch.randn(n, 32)


class VAE(nn.Module):
    def __init__(self, z=4):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(32, 96), nn.Tanh())
        self.mu, self.lv = nn.Linear(96, z), nn.Linear(96, z)
        self.decode = nn.Sequential(nn.Linear(z, 96), nn.Tanh(), nn.Linear(96, 32))

    def forward(self, x):
        h = self.encode(x)
        mu, lv = self.mu(h), self.lv(h)
        z = mu + torch.exp(lv / 2) * torch.randn_like(lv)
        return self.decode(z), mu, lv


def elbo(out, x, mu, lv):
    rec = nn.functional.mse_loss(out, x, reduction="sum") / (2 * 0.05)
    kl = 0.5 * torch.sum(mu ** 2 + lv.exp() - lv - 1)
    return (rec + kl) / len(x)


train, test = signals(4000), signals(500)
vae = VAE()
opt = torch.optim.Adam(vae.parameters(), lr=1e-3)
for epoch in range(25):
    tot = 0.0
    vae.train()
    for b in train[torch.randperm(len(train))].split(64):
        loss = elbo(*(lambda o: (o[0], b, o[1], o[2]))(vae(b)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item()
    vae.eval()
    with torch.no_grad():
        out, mu, lv = vae(test)
        print(f"epoch {epoch + 1}, elbo {tot / 63:.3f}, test elbo {elbo(out, test, mu, lv).item():.3f}")
print("final mse", nn.functional.mse_loss(out, test).item())
