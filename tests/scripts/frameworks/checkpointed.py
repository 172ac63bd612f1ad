"""Gradient checkpointing: the blocks' activations are computed again in the backward pass, dropout included."""

import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.inner = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width)
        )

    def forward(self, x):
        return x + self.inner(self.norm(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 32)
        self.blocks = nn.ModuleList(Block(32) for _ in range(3))
        self.tail = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return checkpoint_sequential(self.tail, 2, x, use_reentrant=True)


torch.manual_seed(12)
x = torch.randn(1100, 10)
y = x[:, 2:6].argmax(1)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(8):
    model.train()
    for chosen in torch.randperm(900).split(45):
        loss = nn.functional.cross_entropy(model(x[chosen]), y[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(2e-3)
    model.eval()
    with torch.no_grad():
        truth["val_loss"].append(nn.functional.cross_entropy(model(x[900:]), y[900:]).item())
    print("epoch", epoch, "train", round(truth["loss"][-1], 4), "val", round(truth["val_loss"][-1], 4))
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
