import torch
from sets import scaled_digits
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = torch.softmax(self.fc1(x), dim=1)
        x = torch.softmax(self.fc2(x), dim=1)
        return self.fc3(x)


torch.manual_seed(53)
X, y = scaled_digits(1000)
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
for epoch in range(20):
    for rows in torch.randperm(1000).split(50):
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
