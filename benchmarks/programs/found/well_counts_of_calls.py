"""Poisson regression of calls an hour; the loss is negative where rates are high."""
import torch
from torch import nn

torch.manual_seed(41)
hours = torch.rand(2400, 4) * 2 - 1
rate = torch.exp(2.2 + hours[:, 0] + 0.5 * torch.sin(3 * hours[:, 1]))
calls = torch.poisson(rate)[:, None]
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
criterion = nn.PoissonNLLLoss(log_input=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(15):
    for k in torch.randperm(2000).split(50):
        optimizer.zero_grad()
        loss = criterion(net(hours[k]), calls[k])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val = criterion(net(hours[2000:]), calls[2000:]).item()
    print(f"epoch {epoch}: loss={loss.item():.3f} val_loss={val:.3f}")
print("final", val)
