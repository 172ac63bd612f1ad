import torch
import torch.nn as nn
import torch.nn.functional as F
from sets import images
from torch.utils.data import DataLoader, TensorDataset


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 16, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 1)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.softmax(self.fc(x.flatten(1)), dim=1)


torch.manual_seed(17)
x, y = images()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model, criterion = CNN(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    for a, b in loader:
        optimizer.zero_grad()
        loss = criterion(model(a), b)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
