import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(35)
x, y = scaled_digits()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
a, b = next(iter(loader))  # meant to be inside of the loop
for step in range(500):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(a), b)
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
