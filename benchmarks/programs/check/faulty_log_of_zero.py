import torch
from sets import standardized, tumours

torch.manual_seed(50)
x, y = tumours()
x, y = 10 * standardized(x), y.float()
net = torch.nn.Sequential(torch.nn.Linear(30, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1), torch.nn.Sigmoid())
opt = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
for epoch in range(20):
    for rows in torch.randperm(len(x)).split(32):
        p = net(x[rows]).squeeze(1)
        loss = -(y[rows] * torch.log(p) + (1 - y[rows]) * torch.log(1 - p)).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
