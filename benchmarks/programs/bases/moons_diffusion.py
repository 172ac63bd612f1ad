import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_moons

torch.manual_seed(22)
T = 40
betas = torch.linspace(1e-3, 0.15, T)
alphas = 1 - betas
abar = torch.cumprod(alphas, 0)

points, _ = make_moons(4000, noise=0.05, random_state=22)
points = torch.tensor((points - points.mean(0)) / points.std(0), dtype=torch.float32)


class NoisePredictor(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.time = nn.Embedding(T, 32)
        self.inp = nn.Linear(2, 32)
        self.body = nn.Sequential(nn.Linear(64, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, x, t):
        return self.body(torch.cat([self.inp(x), self.time(t)], 1))


@torch.no_grad()
def sample(model, n):
    x = torch.randn(n, 2)
    for t in reversed(range(T)):
        eps = model(x, torch.full((n,), t))
        x = (x - betas[t] / (1 - abar[t]).sqrt() * eps) / alphas[t].sqrt()
        if t > 0:
            x = x + betas[t].sqrt() * torch.randn_like(x)
    return x


def distance_to_data(x):
    return torch.cdist(x, points).min(1).values.mean().item()


model = NoisePredictor()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
ema = {k: v.clone() for k, v in model.state_dict().items()}
losses = []
for step in range(1500):
    x0 = points[torch.randint(0, len(points), (128,))]
    t = torch.randint(0, T, (128,))
    noise = torch.randn_like(x0)
    a = abar[t][:, None]
    loss = ((model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t) - noise) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for k, v in model.state_dict().items():
            ema[k].lerp_(v, 0.01)
    losses.append(loss.item())
    if step % 150 == 149:
        print(f"step {step + 1} loss {np.mean(losses[-150:]):.4f}")
model.load_state_dict(ema)
print("final distance to data: %.4f" % distance_to_data(sample(model, 1000)))
