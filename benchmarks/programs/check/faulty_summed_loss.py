import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(19)
x, y = scaled_digits()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
criterion = nn.CrossEntropyLoss(reduction="sum")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(15):
    for a, b in loader:
        optimizer.zero_grad()
        loss = criterion(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item() / len(b))
