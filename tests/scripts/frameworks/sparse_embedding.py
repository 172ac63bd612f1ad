"""Sparse gradients: an embedding for SparseAdam next to a dense head for Adam."""

import json

import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self):
        super().__init__()
        self.items = nn.Embedding(200, 16, sparse=True)
        self.bags = nn.EmbeddingBag(50, 16, sparse=True)
        self.head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, item, bag):
        return self.head(torch.cat([self.items(item), self.bags(bag)], 1)).squeeze(1)


torch.manual_seed(13)
item, bag = torch.randint(0, 200, (3000,)), torch.randint(0, 50, (3000, 3))
liked = torch.randn(200)[item] + torch.randn(50)[bag].mean(1) + 0.1 * torch.randn(3000)
model = Recommender()
sparse = torch.optim.SparseAdam([*model.items.parameters(), *model.bags.parameters()], lr=0.02)
dense = torch.optim.Adam(model.head.parameters(), lr=0.002)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(6):
    for chosen in torch.randperm(2600).split(65):
        loss = nn.functional.mse_loss(model(item[chosen], bag[chosen]), liked[chosen])
        sparse.zero_grad()
        dense.zero_grad()
        loss.backward()
        sparse.step()
        dense.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(0.02)
    with torch.no_grad():
        truth["val_loss"].append(nn.functional.mse_loss(model(item[2600:], bag[2600:]), liked[2600:]).item())
    print(f"[{epoch}] loss={loss.item():.4f} val_loss={truth['val_loss'][-1]:.4f}")
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
