import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
N = 900
centers = torch.randn(6, 20)
y = torch.randint(0, 6, (N,))
X = centers[y] + 1.1 * torch.randn(N, 20)
train_ds = TensorDataset(X[:700], y[:700])
val_X, val_y = X[700:], y[700:]
loader = DataLoader(train_ds, batch_size=2, shuffle=True)  # GPU memory
model = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    model.train()
    running = 0
    for i, (xb, yb) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
        if (i + 1) % 50 == 0:
            print(f"[{epoch + 1}, {i + 1:4d}] loss: {running / 50:.3f}")
            running = 0
    model.eval()
    with torch.no_grad():
        acc = (model(val_X).argmax(1) == val_y).float().mean().item()
    print("val_acc", acc)
print("final", acc)
