import random

import numpy as np
import torch
from sets import standardized, tumours
from torch import nn


class Trainer:
    """One class against the rest, one positive in six."""

    def __init__(self, seed=11):
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        x, y = tumours(900)
        x = standardized(x)
        keep = (y == 0) | (torch.arange(len(y)) % 3 == 0)
        self.x, self.y = x[keep], y[keep].float()
        self.net = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1))
        self.loss = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.AdamW(self.net.parameters(), lr=3e-3, weight_decay=0.01)

    def epoch(self, size=32):
        order = np.random.permutation(len(self.x))
        total = 0.0
        for start in range(0, len(order), size):
            rows = order[start : start + size]
            out = self.net(self.x[rows]).squeeze(1)
            loss = self.loss(out, self.y[rows])
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(order)

    def fit(self, epochs=30):
        for epoch in range(epochs):
            print("epoch", epoch, "loss", round(self.epoch(), 4))


Trainer().fit()
