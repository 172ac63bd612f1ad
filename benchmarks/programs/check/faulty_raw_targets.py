import torch
from sets import diabetes
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(22)
x, t = diabetes()
loader = DataLoader(TensorDataset(x, t.unsqueeze(1)), batch_size=32, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(20):
    for a, b in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, "loss", loss.item())
