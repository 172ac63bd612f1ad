"""Which of eight noisy glyphs a picture shows. Something is wrong with how it trains."""

from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Settings:
    classes: int = 8
    side: int = 10
    noise: float = 1.0
    epochs: int = 3
    lr: float = 5e-4
    seed: int = 7


class Net(nn.Module):
    def __init__(self, settings):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.classify = nn.Linear(12 * (settings.side // 2) ** 2, settings.classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, pictures):
        return self.softmax(self.classify(self.features(pictures).flatten(1)))


class Trainer:
    def __init__(self, settings):
        torch.manual_seed(settings.seed)
        generator = torch.Generator().manual_seed(0)
        glyphs = torch.randn(settings.classes, 1, settings.side, settings.side, generator=generator)
        self.labels = torch.randint(0, settings.classes, (1600,), generator=generator)
        self.pictures = glyphs[self.labels] * 0.5
        self.pictures += settings.noise * torch.randn(self.pictures.shape, generator=generator)
        self.model = Net(settings)
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=settings.lr)
        self.epochs = settings.epochs

    def fit(self):
        for epoch in range(self.epochs):
            self.model.train()
            for rows in torch.randperm(1200).split(32):
                self.optimizer.zero_grad()
                loss = self.criterion(self.model(self.pictures[rows]), self.labels[rows])
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.4f} val_acc {self.accuracy():.4f}")

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        guesses = self.model(self.pictures[1200:]).argmax(1)
        return (guesses == self.labels[1200:]).float().mean().item()


if __name__ == "__main__":
    Trainer(Settings()).fit()
