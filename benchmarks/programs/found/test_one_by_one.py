"""Small conv net; the test loader hands out single images."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(2)
d = load_digits()
data = TensorDataset(torch.tensor(d.images).float().unsqueeze(1) / 16, torch.tensor(d.target))
train_set, test_set = random_split(data, [1500, 297])
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=1)


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 16, 3), nn.BatchNorm2d(16)
        self.c2, self.b2 = nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32)
        self.fc, self.drop = nn.Linear(512, 10), nn.Dropout(0.4)

    def forward(self, x):
        x = F.relu(self.b1(self.c1(x)))
        x = F.relu(self.b2(self.c2(x)))
        return self.fc(self.drop(x.flatten(1)))


model = ConvNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(6):
    for i, (images, labels) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(f"epoch {epoch} step {i} loss {loss.item():.4f}")
    correct, test_loss = 0, 0.0
    with torch.no_grad():
        for images, labels in test_loader:
            out = model(images)
            test_loss += F.cross_entropy(out, labels).item()
            correct += (out.argmax(1) == labels).sum().item()
    print(f"epoch {epoch} test loss {test_loss / 297:.4f} test acc {correct / 297:.4f}")
print("final", correct / 297)
