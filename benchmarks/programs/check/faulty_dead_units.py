import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(64, 64)
        self.act = nn.ReLU()
        self.out = nn.Linear(64, 10)
        nn.init.constant_(self.hidden.bias, -10.0)

    def forward(self, x):
        return self.out(self.act(self.hidden(x)))


torch.manual_seed(15)
x, y = scaled_digits()
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), 64, shuffle=True):
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
