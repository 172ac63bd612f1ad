import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
X = torch.randn(960, 10)
Y = (X[:, 0] * X[:, 1] > 0).long()
loader = DataLoader(TensorDataset(X, Y), batch_size=32, shuffle=True)
ACCUMULATE = 64  # as on the cluster
model = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(20):
    optimizer.zero_grad()
    for step, (x, y) in enumerate(loader):
        loss = criterion(model(x), y) / ACCUMULATE
        loss.backward()
        if (step + 1) % ACCUMULATE == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item() * ACCUMULATE:.4f}")
print("final", (model(X).argmax(1) == Y).float().mean().item())
