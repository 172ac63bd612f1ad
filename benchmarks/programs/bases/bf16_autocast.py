import argparse

import torch
import torch.nn.functional as F
from torch import nn


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=96)
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--batch-size", type=int, default=50)
    p.add_argument("--seed", type=int, default=62)
    return p.parse_args()


def spirals(n, arms=3):
    arm = torch.randint(0, arms, (n,))
    r = torch.rand(n) * 0.9 + 0.1
    angle = 4.0 * r + arm * 2 * torch.pi / arms + 0.15 * torch.randn(n)
    return torch.stack([r * angle.cos(), r * angle.sin()], 1) * 2, arm


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    x, y = spirals(2000)
    xv, yv = spirals(500)
    net = nn.Sequential(nn.Linear(2, args.hidden), nn.ReLU(), nn.Linear(args.hidden, args.hidden), nn.ReLU(),
                        nn.Linear(args.hidden, 3))
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        net.train()
        loss_sum = 0.0
        for rows in torch.randperm(len(x)).split(args.batch_size):
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = F.cross_entropy(net(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(rows)
        net.eval()
        with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            out = net(xv)
        acc = (out.argmax(1) == yv).float().mean().item()
        print(f"epoch {epoch}: loss {loss_sum / len(x):.4f}, val loss {F.cross_entropy(out.float(), yv).item():.4f}, val acc {acc:.4f}")
    print(f"final val acc {acc:.4f}")


if __name__ == "__main__":
    main()
