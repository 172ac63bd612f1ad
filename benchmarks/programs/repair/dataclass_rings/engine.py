import torch
from torch import nn


class Engine:
    """Owns the model and the optimizer."""

    def __init__(self, config, model):
        self.config = config
        self.model = model
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=config.optim.lr, weight_decay=config.optim.weight_decay
        )
        self.criterion = nn.CrossEntropyLoss()

    def train_epoch(self, x, y):
        self.model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(self.config.batch):
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x[rows]), y[rows])
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.config.optim.clip)
            self.optimizer.step()
            total += loss.item() * len(rows)
        return total / len(x)

    @torch.no_grad()
    def test(self, x, y):
        self.model.eval()
        out = self.model(x)
        return self.criterion(out, y).item(), (out.argmax(1) == y).float().mean().item()
