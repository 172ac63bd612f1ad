import math

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(31)
clean = torch.tensor(load_digits().images, dtype=torch.float32)[:, None] / 16
train, test = clean[:1500], clean[1500:]
SIGMA = 0.35


class ResidualDenoiser(nn.Module):
    """Predicts the noise, which is then taken away."""

    def __init__(self, ch=24, depth=4):
        super().__init__()
        layers = [nn.Conv2d(1, ch, 3, padding=1), nn.ReLU()]
        for _ in range(depth - 2):
            layers += [nn.Conv2d(ch, ch, 3, padding=1, bias=False), nn.BatchNorm2d(ch), nn.ReLU()]
        layers.append(nn.Conv2d(ch, 1, 3, padding=1))
        self.net = nn.Sequential(*layers)

    def forward(self, noisy):
        return noisy - self.net(noisy)


def psnr(a, b):
    return 10 * math.log10(1 / (a - b).pow(2).mean().item())


test_noisy = test + SIGMA * torch.randn_like(test)
print(f"noisy PSNR {psnr(test_noisy, test):.2f} dB")
den = ResidualDenoiser()
opt = torch.optim.Adam(den.parameters(), lr=1e-3)
for ep in range(6):
    den.train()
    run = 0.0
    for b in torch.randperm(len(train)).split(32):
        x = train[b]
        y = x + SIGMA * torch.randn_like(x)
        loss = nn.functional.mse_loss(den(y), x)
        opt.zero_grad(); loss.backward(); opt.step()
        run += loss.item() * len(b)
    den.eval()
    with torch.no_grad():
        quality = psnr(den(test_noisy), test)
    print(f"ep {ep} mse {run / len(train):.5f} PSNR {quality:.2f} dB")
print(f"Final PSNR: {quality:.2f} dB")
