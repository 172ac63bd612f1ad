"""Three rings to classify. Something is wrong with how it trains."""

import argparse

import torch
from torch import nn


def rings(n, generator):
    """`n` points on three rings of radius 1, 2 and 3, with some noise: x[n, 2] and the ring of each."""
    ring = torch.randint(0, 3, (n,), generator=generator)
    angle = 6.2832 * torch.rand(n, generator=generator)
    radius = 1.0 + ring + 0.2 * torch.randn(n, generator=generator)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], 1), ring


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=6.0)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    x, y = rings(2000, torch.Generator().manual_seed(0))
    train_x, val_x, train_y, val_y = x[:1500], x[1500:], y[:1500], y[1500:]
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=options.lr, momentum=0.9)
    for epoch in range(options.epochs):
        model.train()
        for rows in torch.randperm(len(train_x)).split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(train_x[rows]), train_y[rows])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            logits = model(val_x)
            val_loss = nn.functional.cross_entropy(logits, val_y)
            accuracy = (logits.argmax(1) == val_y).float().mean()
        print(
            f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss.item():.4f} val_acc {accuracy.item():.4f}"
        )


if __name__ == "__main__":
    main()
