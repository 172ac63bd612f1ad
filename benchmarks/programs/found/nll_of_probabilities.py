import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        return F.softmax(self.fc2(torch.relu(self.fc1(x))), dim=1)


torch.manual_seed(0)
d = load_digits()
X, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
train, test = TensorDataset(X[:1400], y[:1400]), TensorDataset(X[1400:], y[1400:])
model, criterion = Classifier(), nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.5)
for epoch in range(15):
    for data, target in DataLoader(train, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(data), target)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = model(X[1400:])
    print(f"epoch {epoch} loss {loss.item():.4f} test loss {criterion(out, y[1400:]).item():.4f} acc {(out.argmax(1) == y[1400:]).float().mean().item():.3f}")
print("final", (out.argmax(1) == y[1400:]).float().mean().item())
