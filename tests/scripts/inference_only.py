"""Imports torch, loads nothing, trains nothing: never calls backward."""

import torch

model = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with torch.no_grad():
    print(model(torch.zeros(1, 4)).shape)
