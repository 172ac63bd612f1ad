import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)

data = load_digits()
X_train, X_test, y_train, y_test = train_test_split(data.data / 16.0, data.target, test_size=0.25, random_state=0)
X_train = torch.tensor(X_train, dtype=torch.float32)
X_test = torch.tensor(X_test, dtype=torch.float32)
y_train = torch.tensor(y_train)
y_test = torch.tensor(y_test)

model = nn.Sequential(
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(32, 10),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

batch_size = 64
for epoch in range(20):
    model.train()
    perm = torch.randperm(len(X_train))
    running = 0.0
    for i in range(0, len(X_train), batch_size):
        idx = perm[i : i + batch_size]
        optimizer.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        running += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        logits = model(X_test)
        val_loss = criterion(logits, y_test).item()
        acc = (logits.argmax(1) == y_test).float().mean().item()
    print(f"Epoch {epoch + 1:2d} train loss {running / len(X_train):.4f} val loss {val_loss:.4f} val acc {acc:.4f}")

print(f"final accuracy: {acc:.4f}")
