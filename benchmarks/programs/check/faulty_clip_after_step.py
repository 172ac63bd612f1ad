import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(57)
x, y = scaled_digits()
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), 64, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    print(epoch, loss.item())
