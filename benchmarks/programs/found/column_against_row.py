import torch
import torch.nn as nn

torch.manual_seed(21)
X = torch.randn(1000, 6)
y = X[:, 0] * 2 - X[:, 1] + 0.5 * X[:, 2] ** 2
model = nn.Sequential(nn.Linear(6, 40), nn.ReLU(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(30):
    total = 0.0
    for i in range(0, 800, 40):
        pred = model(X[i:i + 40])
        loss = torch.mean((pred - y[i:i + 40]) ** 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 20
    if epoch % 3 == 2:
        with torch.no_grad():
            print(f"epoch {epoch + 1} loss {total:.4f} test mse {((model(X[800:])[:, 0] - y[800:]) ** 2).mean().item():.4f}")
print(f"final test mse {((model(X[800:])[:, 0] - y[800:]) ** 2).mean().item():.4f}")
