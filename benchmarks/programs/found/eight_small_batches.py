import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_digits

torch.manual_seed(19)
ds = load_digits()
X, Y = torch.tensor(ds.data / 16.0).float(), torch.tensor(ds.target)
loader = DataLoader(TensorDataset(X[:1440], Y[:1440]), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(64, 80), nn.ReLU(), nn.Linear(80, 80), nn.ReLU(), nn.Linear(80, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
accumulation_steps = 10
for epoch in range(12):
    optimizer.zero_grad()
    shown = 0.0
    for i, (xb, yb) in enumerate(loader):
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        shown += loss.item()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    with torch.no_grad():
        out = model(X[1440:])
        print(f"epoch {epoch}, train loss {shown / len(loader):.4f}, eval loss {nn.functional.cross_entropy(out, Y[1440:]).item():.4f}, "
              f"eval acc {(out.argmax(1) == Y[1440:]).float().mean().item():.4f}")
print("final", (out.argmax(1) == Y[1440:]).float().mean().item())
