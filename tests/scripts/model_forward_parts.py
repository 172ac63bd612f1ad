"""Calls parts of the model, never the model itself: encoder and decoder of one module."""

import json

import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 6), nn.Tanh())
        self.decoder = nn.Linear(6, 12)


torch.manual_seed(21)
x = torch.randn(160, 12) @ torch.randn(12, 12) * 0.3
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
losses = []
for _ in range(40):
    batch = x[torch.randperm(160)[:32]]
    loss = nn.functional.mse_loss(model.decoder(model.encoder(batch)), batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [0.01] * 40}, open("truth.json", "w"))
