import torch
from sets import tumours
from torch import nn

torch.manual_seed(23)
X, y = tumours()
model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1))
loss_fn = nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(25):
    for rows in torch.randperm(len(X)).split(32):
        loss = loss_fn(model(X[rows]).squeeze(1), y[rows].float())
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
