import torch
from torch import nn

torch.manual_seed(52)
x = torch.randn(1400, 9)
daily = (x @ torch.randn(9, 1)) * 0.6 + 0.1 * torch.randn(1400, 1)
net = nn.Sequential(nn.Linear(9, 40), nn.ReLU(), nn.Linear(40, 20), nn.ReLU(), nn.Linear(20, 1), nn.ReLU())
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
mse = nn.MSELoss()
for epoch in range(25):
    run = []
    for b in torch.randperm(1100).split(44):
        loss = mse(net(x[b]), daily[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run.append(loss.item())
    with torch.no_grad():
        val = mse(net(x[1100:]), daily[1100:]).item()
    print(f"epoch {epoch:3d} | train {sum(run) / len(run):.4f} | val {val:.4f}")
print("final", val)
