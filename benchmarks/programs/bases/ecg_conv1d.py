import math
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED = 90
torch.manual_seed(SEED)
LENGTH = 160


def beats(n):
    """Heartbeat-like signals: normal, early beat, wide beat."""
    t = torch.arange(LENGTH).float()
    kind = torch.randint(0, 3, (n,))
    sig = 0.15 * torch.randn(n, LENGTH) + 0.3 * torch.sin(2 * math.pi * (t / LENGTH + torch.rand(n, 1)))
    for i in range(n):
        period = 38 + 6 * torch.rand(1).item()
        centers = [10 + 10 * torch.rand(1).item() + period * k for k in range(4)]
        width = 1.5
        odd = int(torch.randint(1, 3, (1,)))
        for k, c in enumerate(centers):
            w = width
            if k == odd and kind[i] == 1:
                c -= 12
            if k == odd and kind[i] == 2:
                w = 4.5
            sig[i] += torch.exp(-((t - c) / w) ** 2)
    return sig[:, None], kind


x_train, y_train = beats(1200)
x_val, y_val = beats(300)
train_loader = DataLoader(TensorDataset(x_train, y_train), batch_size=32, shuffle=True)
val_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=150)

model = nn.Sequential(
    nn.Conv1d(1, 16, 9, padding=4), nn.BatchNorm1d(16), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(16, 32, 7, padding=3), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
    nn.Conv1d(32, 32, 15, padding=7), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveMaxPool1d(1),
    nn.Flatten(), nn.Dropout(0.1), nn.Linear(32, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
start = time.time()
for epoch in range(1, 7):
    model.train()
    train_loss = 0.0
    for signals, kinds in train_loader:
        optimizer.zero_grad()
        outputs = model(signals)
        loss = criterion(outputs, kinds)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * signals.size(0)
    train_loss /= len(train_loader.dataset)

    model.eval()
    val_loss, correct = 0.0, 0
    with torch.no_grad():
        for signals, kinds in val_loader:
            outputs = model(signals)
            val_loss += criterion(outputs, kinds).item() * signals.size(0)
            correct += (outputs.argmax(1) == kinds).sum().item()
    val_loss /= len(val_loader.dataset)
    val_acc = correct / len(val_loader.dataset)
    print(f"Epoch {epoch}: train_loss={train_loss:.4f}, val_loss={val_loss:.4f}, val_acc={val_acc:.4f} ({time.time() - start:.0f}s)")
print(f"final val_acc={val_acc:.4f}")
