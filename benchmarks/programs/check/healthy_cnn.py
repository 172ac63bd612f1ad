import argparse

import torch
from sets import images
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        )  # fmt: skip
        self.head = nn.Linear(64, classes)

    def forward(self, x):
        return self.head(self.body(x).flatten(1))


def run_epoch(net, loader, criterion, opt=None):
    net.train(opt is not None)
    total = 0.0
    with torch.set_grad_enabled(opt is not None):
        for x, y in loader:
            loss = criterion(net(x), y)
            if opt is not None:
                opt.zero_grad()
                loss.backward()
                opt.step()
            total += loss.item() * len(y)
    return total / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--lr", type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(7)
    x, y = images()
    train = DataLoader(TensorDataset(x[:700], y[:700]), batch_size=32, shuffle=True)
    test = DataLoader(TensorDataset(x[700:], y[700:]), batch_size=100)
    net, criterion = Net(4), nn.CrossEntropyLoss()
    opt = optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, weight_decay=5e-4)
    scheduler = optim.lr_scheduler.StepLR(opt, step_size=5, gamma=0.5)
    for epoch in range(args.epochs):
        a, b = run_epoch(net, train, criterion, opt), run_epoch(net, test, criterion)
        scheduler.step()
        print(f"{epoch:3d} train {a:.4f} test {b:.4f}")


if __name__ == "__main__":
    main()
