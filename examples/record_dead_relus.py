"""A rate so high that the first steps throw most ReLUs out of the range of all data. Needs only torch.

traindx run --out runs/relus -- python examples/record_dead_relus.py
traindx activations runs/relus
traindx run -- python examples/record_dead_relus.py --lr 0.05          healthy
"""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3.0)
    parser.add_argument("--steps", type=int, default=400)
    args = parser.parse_args()

    torch.manual_seed(0)
    inputs = torch.randn(2000, 20)
    labels = (inputs[:, 0] * inputs[:, 1] > 0).long() + 2 * (inputs[:, 2] > 0).long()
    model = nn.Sequential()
    for width in (20, 64, 64):
        model.append(nn.Linear(width, 64)).append(nn.ReLU())
    model.append(nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)

    for step in range(1, args.steps + 1):
        chosen = torch.randint(0, 2000, (64,))
        loss = nn.functional.cross_entropy(model(inputs[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
