"""A trainer class, subclassed; argparse; a schedule stepped every epoch."""

import argparse
import json

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hidden = nn.Linear(8, width)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        return self.head(self.drop(torch.tanh(self.hidden(x))))


class BaseTrainer:
    def __init__(self, args):
        self.args = args
        self.history = {"loss": [], "lr": [], "val_loss": []}
        self.model = self.build()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr, weight_decay=0.05)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, step_size=1, gamma=0.5)

    def build(self):
        raise NotImplementedError

    def step(self, batch):
        raise NotImplementedError

    def fit(self, train, valid):
        for epoch in range(self.args.epochs):
            self.model.train()
            for batch in train:
                self.optimizer.zero_grad(set_to_none=True)
                loss = self.step(batch)
                loss.backward()
                self.optimizer.step()
                self.history["loss"].append(loss.item())
                self.history["lr"].append(self.scheduler.get_last_lr()[0])
            self.history["val_loss"].append(self.validate(valid))
            self.scheduler.step()
            print("epoch", epoch, "val_loss", self.history["val_loss"][-1])

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        losses = [self.step(batch).item() for batch in loader]
        return sum(losses) / len(losses)


class Trainer(BaseTrainer):
    def build(self):
        return Net(self.args.width)

    def step(self, batch):
        x, y = batch
        return F.cross_entropy(self.model(x), y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(1)
    x = torch.randn(300, 8)
    data = TensorDataset(x, x[:, :3].argmax(1))
    train, valid = random_split(data, [240, 60])
    trainer = Trainer(args)
    trainer.fit(DataLoader(train, 24, shuffle=True), DataLoader(valid, 30))
    torch.save(trainer.model.state_dict(), "weights.pt")
    with open("truth.json", "w") as file:
        json.dump(trainer.history, file)


if __name__ == "__main__":
    main()
