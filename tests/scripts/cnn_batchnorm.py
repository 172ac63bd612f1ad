"""Convolutions with batch normalization, a OneCycle schedule stepped every batch, train and eval modes."""

import json

import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        )  # fmt: skip
        self.classifier = nn.Linear(16, 4)

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


torch.manual_seed(14)
labels = torch.randint(0, 4, (240,))
images = torch.randn(240, 1, 8, 8) + labels.view(-1, 1, 1, 1) * 0.5
train = DataLoader(TensorDataset(images[:200], labels[:200]), batch_size=20, shuffle=True, drop_last=True)
test = DataLoader(TensorDataset(images[200:], labels[200:]), batch_size=20)
net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=30)
truth = {"loss": [], "lr": [], "val_loss": []}
for epoch in range(3):
    net.train()
    for data in train:
        inputs, targets = data
        truth["lr"].append(optimizer.param_groups[0]["lr"])
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        scheduler.step()
        truth["loss"].append(loss.item())
    net.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for inputs, targets in test:
            outputs = net(inputs)
            total += criterion(outputs, targets).item() * len(targets)
            correct += (outputs.argmax(1) == targets).sum().item()
    truth["val_loss"].append(total / 40)
    print(f"Test set: Average loss: {total / 40:.4f}, Accuracy: {correct}/40 ({100.0 * correct / 40:.0f}%)")
torch.save(net.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
