import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset
from sklearn.datasets import load_digits

torch.manual_seed(70)


class Digits(Dataset):
    def __init__(self, first, last):
        d = load_digits()
        self.x = torch.tensor(d.data[first:last] / 16, dtype=torch.float32)
        self.y = torch.tensor(d.target[first:last])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


train_loader = DataLoader(Digits(0, 1400), batch_size=64, shuffle=False)
test_loader = DataLoader(Digits(1400, 1797), batch_size=400)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(400):
    inputs, labels = next(iter(train_loader))
    optimizer.zero_grad()
    loss = criterion(model(inputs), labels)
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        with torch.no_grad():
            xv, yv = next(iter(test_loader))
            out = model(xv)
        print(f"step {step}: loss = {loss.item():.4f}, test loss = {criterion(out, yv).item():.4f}, test acc = {(out.argmax(1) == yv).float().mean().item():.4f}")
print("final", (model(xv).argmax(1) == yv).float().mean().item())
