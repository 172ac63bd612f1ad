"""Tied weights: one matrix embeds the tokens and scores them, and one block is applied twice."""

import json

import torch
from torch import nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(24, 32)
        self.block = nn.Sequential(nn.LayerNorm(32), nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 32))
        self.score = nn.Linear(32, 24, bias=False)
        self.score.weight = self.embed.weight
        nn.init.normal_(self.embed.weight, std=0.1)

    def forward(self, tokens):
        hidden = self.embed(tokens)
        hidden = hidden + self.block(hidden)
        hidden = hidden + self.block(hidden)
        return self.score(hidden)


torch.manual_seed(14)
step = torch.randint(0, 24, (24,))
tokens = torch.randint(0, 24, (1100, 12))
following = step[tokens]
noise = torch.rand(following.shape) < 0.1
following[noise] = torch.randint(0, 24, (int(noise.sum()),))
model = Tied()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(8):
    model.train()
    for chosen in torch.randperm(960).split(32):
        loss = nn.functional.cross_entropy(model(tokens[chosen]).flatten(0, 1), following[chosen].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(3e-3)
    model.eval()
    with torch.no_grad():
        logits = model(tokens[960:])
        truth["val_loss"].append(
            nn.functional.cross_entropy(logits.flatten(0, 1), following[960:].flatten()).item()
        )
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {truth['val_loss'][-1]:.4f}")
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
