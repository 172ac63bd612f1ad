import random

import torch
from sets import scaled_digits
from torch import nn

torch.manual_seed(33)
x, y = scaled_digits(1000)
rows = list(range(1000))
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(20):
    random.shuffle(rows)  # Python's generator has no seed
    for start in range(0, 1000, 50):
        part = torch.tensor(rows[start : start + 50])
        loss = nn.functional.cross_entropy(model(x[part]), y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
