"""Weather station readings -> tomorrow's temperature. Gaps in the export are written as -9999."""
import numpy as np
import torch

torch.manual_seed(2)
rs = np.random.RandomState(2)
n = 1600
base = rs.randn(n, 6)
w = rs.randn(6)
target = base @ w + 0.3 * np.sin(3 * base[:, 0]) + 0.1 * rs.randn(n)
readings = base.copy()
gap = rs.rand(n, 6) < 0.004
readings[gap] = -9999
X, y = torch.tensor(readings).float(), torch.tensor(target).float().view(-1, 1)
net = torch.nn.Sequential(torch.nn.Linear(6, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
adam = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(25):
    for rows in torch.randperm(1200).split(32):
        loss = torch.nn.functional.mse_loss(net(X[rows]), y[rows])
        adam.zero_grad()
        loss.backward()
        adam.step()
        print("loss %.4f" % loss.item())
    with torch.no_grad():
        val = torch.nn.functional.mse_loss(net(X[1200:]), y[1200:]).item()
    print("epoch", epoch, "val mse %.4f" % val)
print("final", val)
