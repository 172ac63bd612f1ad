import torch
import torch.nn as nn
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(9)
W = torch.randn(20, 5)
X = torch.randn(3000, 20)
Y = (torch.tanh(X @ W) + 0.5 * torch.randn(3000, 5)).argmax(1)
model = nn.Sequential(nn.Linear(20, 100), nn.ReLU(), nn.Linear(100, 5))
optimizer = optim.SGD(model.parameters(), lr=0.05)
scheduler = StepLR(optimizer, step_size=1, gamma=0.1)
for epoch in range(15):
    perm = torch.randperm(2500)
    run = 0.0
    for i in range(0, 2500, 50):
        idx = perm[i:i + 50]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(X[idx]), Y[idx])
        loss.backward()
        optimizer.step()
        run += loss.item()
    scheduler.step()
    with torch.no_grad():
        out = model(X[2500:])
        acc = (out.argmax(1) == Y[2500:]).float().mean()
    print(f"Epoch {epoch}: loss={run / 50:.4f}, val_loss={nn.functional.cross_entropy(out, Y[2500:]):.4f}, val_acc={acc:.4f}")
print("final val_acc", acc.item())
