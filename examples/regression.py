"""Fit a house-price-like table by hand-made columns of very different scale. Needs only torch.

traindx run -- python examples/regression.py                diverges: inputs and target are not scaled
traindx run -- python examples/regression.py --standardize  healthy
"""

import argparse

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--standardize", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    area, rooms, age = 50 + 100 * torch.rand(600), torch.randint(1, 7, (600,)).float(), 60 * torch.rand(600)
    price = 1500 * area + 9000 * rooms - 700 * age + 8000 * torch.randn(600)
    x, y = torch.stack([area, rooms, age], 1), price.unsqueeze(1)
    if args.standardize:
        x, y = (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()

    model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(20):
        for part in torch.randperm(500).split(50):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(x[part]), y[part])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            print("epoch", epoch, "val_mse", nn.functional.mse_loss(model(x[500:]), y[500:]).item())


if __name__ == "__main__":
    main()
