import torch
from sets import scaled_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(64, 64), nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


torch.manual_seed(4)
x, y = scaled_digits()
loader, model = DataLoader(TensorDataset(x, y), 64, shuffle=True), Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(a), b)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1e-4)
        optimizer.step()
    print(epoch, loss.item())
