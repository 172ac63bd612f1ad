import torch
from sets import scaled_digits
from torch import nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)
        nn.init.zeros_(m.bias)


torch.manual_seed(13)
X, y = scaled_digits(1000)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
model.apply(init_weights)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(20):
    for rows in torch.randperm(1000).split(50):
        loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
