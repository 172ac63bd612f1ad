# tiny vision transformer that tells the orientation of noisy gratings
import math
import torch
from torch import nn

torch.manual_seed(3)
N, S, CLASSES = 1600, 12, 6


def gratings(n):
    angle = torch.randint(0, CLASSES, (n,))
    theta = angle * math.pi / CLASSES
    freq = 0.8 + 0.5 * torch.rand(n)
    phase = 2 * math.pi * torch.rand(n)
    u = torch.arange(S).float()
    gx, gy = u[None, None, :], u[None, :, None]
    wave = freq[:, None, None] * (gx * theta.cos()[:, None, None] + gy * theta.sin()[:, None, None])
    return torch.sin(wave + phase[:, None, None]) + 0.4 * torch.randn(n, S, S), angle


class ViT(nn.Module):
    def __init__(self, patch=4, dim=32, depth=2, heads=4):
        super().__init__()
        self.patch = patch
        self.embed = nn.Linear(patch * patch, dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(0.02 * torch.randn(1, (S // patch) ** 2 + 1, dim))
        layer = nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.0, batch_first=True, norm_first=True, activation="gelu")
        self.enc = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, CLASSES)

    def forward(self, img):
        p = self.patch
        tok = img.unfold(1, p, p).unfold(2, p, p).flatten(3).flatten(1, 2)
        tok = self.embed(tok)
        tok = torch.cat([self.cls.expand(len(tok), -1, -1), tok], 1) + self.pos
        return self.head(self.norm(self.enc(tok)[:, 0]))


x, y = gratings(N)
xv, yv = gratings(400)
vit = ViT()
opt = torch.optim.AdamW(vit.parameters(), lr=2e-3, weight_decay=0.05)
total = 450
warm = 30
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / warm) * 0.5 * (1 + math.cos(math.pi * s / total)))
for step in range(total):
    pick = torch.randint(0, N, (64,))
    loss = nn.functional.cross_entropy(vit(x[pick]), y[pick])
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(vit.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 50 == 0 or step == total - 1:
        vit.eval()
        with torch.no_grad():
            out = vit(xv)
            vl, va = nn.functional.cross_entropy(out, yv).item(), (out.argmax(1) == yv).float().mean().item()
        vit.train()
        print(f"step {step:4d} | loss {loss.item():.3f} | val loss {vl:.3f} | val acc {va:.3f}")
print("final: val acc", round(va, 3))
