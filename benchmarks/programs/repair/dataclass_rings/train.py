import torch
from config import Config
from engine import Engine
from torch import nn


def rings(n):
    y = torch.randint(0, 3, (n,))
    r = 1.0 + y + 0.25 * torch.randn(n)
    a = torch.rand(n) * 2 * torch.pi
    return torch.stack([r * a.cos(), r * a.sin()], 1) / 2, y


if __name__ == "__main__":
    torch.manual_seed(4)
    config = Config()
    x, y = rings(config.points)
    vx, vy = rings(500)
    model = nn.Sequential(
        nn.Linear(2, config.width), nn.ReLU(), nn.Linear(config.width, config.width), nn.ReLU(), nn.Linear(config.width, 3)
    )
    engine = Engine(config, model)
    for epoch in range(config.epochs):
        train_loss = engine.train_epoch(x, y)
        val_loss, val_acc = engine.test(vx, vy)
        print(f"[{epoch:02d}] train_loss={train_loss:.4f} val_loss={val_loss:.4f} val_acc={val_acc:.4f}")
    print(f"final val_acc={val_acc:.4f}")
