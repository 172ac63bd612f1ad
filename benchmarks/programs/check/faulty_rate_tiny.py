import torch
import torch.nn as nn
from sets import scaled_digits

torch.manual_seed(1)
X, y = scaled_digits(1000)
net = nn.Sequential(nn.Linear(64, 100), nn.Tanh(), nn.Linear(100, 10))
opt = torch.optim.SGD(net.parameters(), lr=1e-5, momentum=0.9)
for epoch in range(25):
    for rows in torch.randperm(len(X)).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        loss.backward()
        opt.step()
    print("epoch", epoch, "loss", loss.item())
