"""Train a small classifier on two-dimensional spirals. Needs only torch.

python examples/classifier.py
traindx run -- python examples/classifier.py                 healthy
traindx run -- python examples/classifier.py --lr 30         the rate is far too high
traindx run -- python examples/classifier.py --forget-zero   gradients pile up
traindx run -- python examples/classifier.py --sorted        batches of one class each
"""

import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(count, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) * 3 // count
    turn = torch.rand(count, generator=generator)
    angle = 4 * turn + labels * 2 * math.pi / 3 + 0.2 * torch.randn(count, generator=generator)
    return torch.stack([turn * angle.cos(), turn * angle.sin()], 1), labels


def accuracy(model, inputs, labels):
    return (model(inputs).argmax(1) == labels).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--forget-zero", action="store_true")
    parser.add_argument("--sorted", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    train, held_out = TensorDataset(*spirals(1200, 1)), TensorDataset(*spirals(300, 2))
    loader = DataLoader(train, batch_size=32, shuffle=not args.sorted)
    model = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    criterion = nn.CrossEntropyLoss()

    for epoch in range(1, args.epochs + 1):
        model.train()
        for inputs, labels in loader:
            if not args.forget_zero:
                optimizer.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            inputs, labels = held_out.tensors
            val_loss = criterion(model(inputs), labels).item()
            print(
                f"epoch {epoch:2d}  val loss {val_loss:.4f}  val acc {accuracy(model, inputs, labels):.3f}"
            )


if __name__ == "__main__":
    main()
