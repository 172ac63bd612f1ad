import argparse
import math

import torch
from torch import nn
from torch.optim import SGD
from torch.optim.lr_scheduler import CosineAnnealingLR

parser = argparse.ArgumentParser()
parser.add_argument("--n", type=int, default=1500)
parser.add_argument("--epochs", type=int, default=12)
parser.add_argument("--bs", type=int, default=50)
parser.add_argument("--lr", type=float, default=0.1)
parser.add_argument("--wd", type=float, default=1e-4)
parser.add_argument("--seed", type=int, default=11)
args = parser.parse_args()

torch.manual_seed(args.seed)


def draw(kind, size=16):
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    cx, cy = (torch.rand(2) * 6 + 5).tolist()
    r = float(torch.rand(1) * 2 + 3)
    if kind == 0:      # disc
        img = ((xx - cx) ** 2 + (yy - cy) ** 2 < r * r).float()
    elif kind == 1:    # square
        img = ((xx - cx).abs().maximum((yy - cy).abs()) < r * 0.85).float()
    elif kind == 2:    # cross
        img = (((xx - cx).abs() < 1.2) | ((yy - cy).abs() < 1.2)).float()
        img = img * ((xx - cx).abs().maximum((yy - cy).abs()) < r + 1).float()
    else:              # ring
        d = ((xx - cx) ** 2 + (yy - cy) ** 2).sqrt()
        img = ((d < r + 0.7) & (d > r - 1.0)).float()
    return img + 0.3 * torch.randn(size, size)


kinds = torch.randint(0, 4, (args.n,))
imgs = torch.stack([draw(int(k)) for k in kinds]).unsqueeze(1)
imgs = (imgs - imgs.mean()) / imgs.std()
n_train = int(0.8 * args.n)

net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.GroupNorm(3, 12), nn.SiLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.GroupNorm(4, 24), nn.SiLU(), nn.MaxPool2d(2),
    nn.Conv2d(24, 32, 3, padding=1), nn.SiLU(),
    nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(32, 4),
)
opt = SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True, weight_decay=args.wd)
steps = math.ceil(n_train / args.bs) * args.epochs
sched = CosineAnnealingLR(opt, T_max=steps)
lossf = nn.CrossEntropyLoss()

for ep in range(args.epochs):
    net.train()
    order = torch.randperm(n_train)
    tot = 0.0
    for chunk in order.split(args.bs):
        out = net(imgs[chunk])
        loss = lossf(out, kinds[chunk])
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
        tot += loss.item()
    net.eval()
    with torch.inference_mode():
        pred = net(imgs[n_train:]).argmax(1)
        acc = (pred == kinds[n_train:]).float().mean()
    print(f"[{ep}] loss={tot * args.bs / n_train:.3f} acc={acc:.3f} lr={sched.get_last_lr()[0]:.4f}")
print("final acc:", round(acc.item(), 4))
