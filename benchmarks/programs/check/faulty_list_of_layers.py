import torch
from sets import scaled_digits
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=3, width=64):
        super().__init__()
        self.first = nn.Linear(64, width)
        self.hidden = [nn.Linear(width, width) for _ in range(depth)]
        self.last = nn.Linear(width, 10)

    def forward(self, x):
        x = torch.relu(self.first(x))
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return self.last(x)


torch.manual_seed(31)
X, y = scaled_digits(1000)
model = Deep()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(20):
    for rows in torch.randperm(1000).split(50):
        loss = nn.functional.cross_entropy(model(X[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
