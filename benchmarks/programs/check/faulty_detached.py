import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.head = nn.Linear(64, 32), nn.Linear(32, 10)

    def forward(self, x):
        features = torch.relu(self.encoder(x)).detach()
        return self.head(features)


torch.manual_seed(7)
x, y = scaled_digits()
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), 64, shuffle=True):
        loss = nn.functional.cross_entropy(model(a), b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print("epoch", epoch, loss.item())
