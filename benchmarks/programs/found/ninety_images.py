import torch
from torch import nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(77)
d = load_digits()
x = torch.tensor(d.images).float()[:, None] / 16
x = x + 0.35 * torch.randn_like(x)
y = torch.tensor(d.target)
train = DataLoader(TensorDataset(x[:90], y[:90]), batch_size=10, shuffle=True)
valid = DataLoader(TensorDataset(x[400:1000], y[400:1000]), batch_size=200)
model = nn.Sequential(nn.Conv2d(1, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                      nn.Flatten(), nn.Linear(64 * 64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(1, 26):
    model.train()
    tl = 0
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        tl += loss.item()
    model.eval()
    vl = ok = 0
    with torch.no_grad():
        for xb, yb in valid:
            out = model(xb)
            vl += criterion(out, yb).item()
            ok += (out.argmax(1) == yb).sum().item()
    print(f"epoch {epoch} train_loss {tl / len(train):.4f} val_loss {vl / len(valid):.4f} val_acc {ok / 600:.3f}")
print("final", ok / 600)
