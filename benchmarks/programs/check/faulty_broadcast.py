import torch
from sets import diabetes, standardized

torch.manual_seed(21)
X, t = diabetes()
t = standardized(t)
net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
mse = torch.nn.MSELoss()
for epoch in range(50):
    for rows in torch.randperm(440).split(40):
        loss = mse(net(X[rows]), t[rows])  # (40, 1) against (40,)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
