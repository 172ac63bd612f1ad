import torch
from sets import standardized, tumours
from torch import nn

torch.manual_seed(16)
x, y = tumours()
x, y = standardized(x), y.float().unsqueeze(1)
model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1), nn.Softmax(dim=1))
criterion = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(30):
    for rows in torch.randperm(len(x)).split(32):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
