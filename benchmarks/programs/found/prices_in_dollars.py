import numpy as np
import torch
from torch import nn, optim

np.random.seed(12)
torch.manual_seed(12)
rooms = np.random.randint(1, 8, 1200)
area = 30 * rooms + np.random.randn(1200) * 12
age = np.random.rand(1200) * 60
price = 2400 * area + 9000 * rooms - 700 * age + np.random.randn(1200) * 9000 + 40000
F = np.stack([rooms, area, age], 1)
F = (F - F.mean(0)) / F.std(0)
F, P = torch.FloatTensor(F), torch.FloatTensor(price)[:, None]
net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
opt = optim.Adam(net.parameters(), lr=1e-3)
mse = nn.MSELoss()
for epoch in range(30):
    for j in torch.randperm(1000).split(50):
        opt.zero_grad()
        loss = mse(net(F[j]), P[j])
        loss.backward()
        opt.step()
    with torch.no_grad():
        v = mse(net(F[1000:]), P[1000:]).item()
    print(f"Epoch: {epoch:02} | Train Loss: {loss.item():.1f} | Val. Loss: {v:.1f}")
print("final", v)
