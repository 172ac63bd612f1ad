import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(10)
x, y = scaled_digits(1600)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
for epoch in range(25):
    for i, (a, b) in enumerate(loader, 1):
        loss = torch.nn.functional.cross_entropy(model(a), b)
        loss.backward()
        if i % 10 == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, loss.item())
