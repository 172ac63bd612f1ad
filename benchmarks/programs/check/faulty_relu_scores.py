import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(18)
x, y = scaled_digits()
model = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.ReLU(), torch.nn.Linear(48, 10), torch.nn.ReLU())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), 64, shuffle=True):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
