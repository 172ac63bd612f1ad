"""A deep net of sigmoids: the gradient dies out on its way back, and the first layers do not learn. Needs only torch.

traindx run --out runs/sigmoid -- python examples/record_deep_sigmoid.py
traindx gradients runs/sigmoid
traindx run -- python examples/record_deep_sigmoid.py --normalized     the same net with batch normalization
"""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--normalized", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    inputs = torch.randn(2000, 20)
    labels = (inputs[:, :4].prod(1) > 0).long() + 2 * (inputs[:, 4] > 0).long()
    layers = []
    for i in range(args.depth):
        normalization = [nn.BatchNorm1d(32)] if args.normalized else []
        layers += [nn.Linear(20 if i == 0 else 32, 32), *normalization, nn.Sigmoid()]
    model = nn.Sequential(*layers, nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

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
