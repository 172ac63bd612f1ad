import torch
from sets import images
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class RowReader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.Linear(12, 16)
        self.out = nn.Linear(12 * 16, 4)

    def forward(self, x):
        h = torch.relu(self.rows(x.squeeze(1)))
        h = h.permute(1, 0, 2).reshape(len(x), -1)  # rows of other images
        return self.out(h)


torch.manual_seed(29)
x, y = images()
model = RowReader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=45, shuffle=True):
        loss = nn.functional.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
