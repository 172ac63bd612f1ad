"""Small convolutional network on the 8x8 digits."""
import logging
import random

import numpy as np
import torch
import torch.nn.functional as F
from sklearn import datasets
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("digits")


def set_seed(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class ConvNet(nn.Module):
    def __init__(self, width=16, p_drop=0.2):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(2 * width)
        self.drop = nn.Dropout(p_drop)
        self.fc = nn.Linear(2 * width * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.bn2(self.conv2(x))), 2)
        x = self.drop(x.flatten(1))
        return self.fc(x)


class Trainer:
    def __init__(self, model, train_set, valid_set, lr=2e-3, batch_size=32):
        self.model = model
        self.train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=True)
        self.valid_loader = DataLoader(valid_set, batch_size=256)
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)
        self.step = 0

    def train_one_epoch(self):
        self.model.train()
        for xb, yb in self.train_loader:
            loss = F.cross_entropy(self.model(xb), yb)
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            if self.step % 20 == 0:
                log.info("step %d loss %.4f", self.step, loss.item())
            self.step += 1

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        hits, total, loss = 0, 0, 0.0
        for xb, yb in self.valid_loader:
            out = self.model(xb)
            loss += F.cross_entropy(out, yb, reduction="sum").item()
            hits += (out.argmax(-1) == yb).sum().item()
            total += len(yb)
        return loss / total, hits / total

    def fit(self, epochs):
        for epoch in range(epochs):
            self.train_one_epoch()
            vloss, vacc = self.validate()
            log.info("epoch %d val_loss %.4f val_acc %.4f", epoch, vloss, vacc)
        return vacc


def main():
    set_seed()
    digits = datasets.load_digits()
    images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16 - 0.5
    labels = torch.from_numpy(digits.target)
    full = TensorDataset(images, labels)
    train_set, valid_set = random_split(full, [1400, len(full) - 1400])
    trainer = Trainer(ConvNet(), train_set, valid_set)
    acc = trainer.fit(6)
    print("Final validation accuracy: {:.2f}%".format(100 * acc))


if __name__ == "__main__":
    main()
