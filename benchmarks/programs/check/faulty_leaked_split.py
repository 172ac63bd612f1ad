import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(27)
x, y = scaled_digits(900)
data = TensorDataset(x, y)
train_loader = DataLoader(data, batch_size=50, shuffle=True)
val_loader = DataLoader(Subset(data, range(600, 900)), batch_size=100)
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(15):
    net.train()
    for a, b in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(a), b)
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), sum(nn.functional.cross_entropy(net(a), b).item() for a, b in val_loader) / 3)
