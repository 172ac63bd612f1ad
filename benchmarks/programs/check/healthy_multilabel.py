import torch
from torch import nn

torch.manual_seed(17)
x = torch.randn(1500, 24)
w = torch.randn(24, 6)
y = (x @ w + 0.5 * torch.randn(1500, 6) > 1.0).float()
model = nn.Sequential(nn.Linear(24, 48), nn.ELU(), nn.Linear(48, 6), nn.Sigmoid())
opt = torch.optim.RMSprop(model.parameters(), lr=2e-3)
for epoch in range(25):
    for i in torch.randperm(1500).split(50):
        p = model(x[i])
        loss = nn.functional.binary_cross_entropy(p, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
