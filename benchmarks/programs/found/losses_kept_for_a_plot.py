import torch
import torch.nn as nn

torch.manual_seed(17)
x = torch.randn(4000, 64)
y = x[:, :8].abs().sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
history, average = [], 0
for epoch in range(6):
    for rows in torch.randperm(3600).split(60):
        out = net(x[rows])
        loss = nn.functional.mse_loss(out, y[rows])
        average = 0.9 * average + 0.1 * loss
        history.append((average, out))
        opt.zero_grad()
        loss.backward(retain_graph=True)
        opt.step()
    print("epoch", epoch, "smoothed loss", float(average))
with torch.no_grad():
    print("final mse", nn.functional.mse_loss(net(x[3600:]), y[3600:]).item())
