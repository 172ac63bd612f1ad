import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(28)
x, y = scaled_digits()
order = y.argsort()
loader = DataLoader(TensorDataset(x[order], y[order]), batch_size=32)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(15):
    for a, b in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
