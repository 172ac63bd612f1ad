import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01)
parser.add_argument("--weight-decay", type=float, default=2.0)
parser.add_argument("--epochs", type=int, default=40)
args = parser.parse_args()
torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X, y = torch.tensor(scale(X)).float(), torch.tensor(y)
perm = torch.randperm(len(X))
tr, te = perm[:130], perm[130:]
loader = DataLoader(TensorDataset(X[tr], y[tr]), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=args.weight_decay)
crit = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    model.train()
    s = 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = crit(model(xb), yb)
        loss.backward()
        optimizer.step()
        s += loss.item()
    model.eval()
    with torch.no_grad():
        out = model(X[te])
    print(f"epoch {epoch} loss {s / len(loader):.4f} val_loss {crit(out, y[te]).item():.4f} val_acc {(out.argmax(1) == y[te]).float().mean().item():.4f}")
print("final val_loss", crit(out, y[te]).item())
