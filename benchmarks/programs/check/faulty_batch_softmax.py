import torch
from sets import scaled_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(20)
x, y = scaled_digits()
loader = DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)
model = torch.nn.Sequential(
    torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10), torch.nn.LogSoftmax(dim=0)
)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(15):
    for a, b in loader:
        loss = torch.nn.functional.nll_loss(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
