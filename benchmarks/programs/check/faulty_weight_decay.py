import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
x, y = scaled_digits()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1.0)
for epoch in range(15):
    for a, b in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
