"""Ternary weight network (weights in {-a, 0, a}) on the digits."""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Ternarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        delta = 0.7 * w.abs().mean()
        mask = w.abs() > delta
        alpha = w.abs()[mask].mean()
        return alpha * w.sign() * mask

    @staticmethod
    def backward(ctx, g):
        return g


class TernaryLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_out, n_in))
        self.bias = nn.Parameter(torch.zeros(n_out))
        nn.init.kaiming_normal_(self.weight)

    def forward(self, x):
        return x @ Ternarize.apply(self.weight).T + self.bias


class TernaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = TernaryLinear(64, 96)
        self.bn1 = nn.BatchNorm1d(96)
        self.fc2 = TernaryLinear(96, 64)
        self.bn2 = nn.BatchNorm1d(64)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        x = torch.relu(self.bn2(self.fc2(x)))
        return self.out(x)

    def zero_share(self):
        with torch.no_grad():
            return np.mean([(Ternarize.apply(m.weight) == 0).float().mean().item() for m in (self.fc1, self.fc2)])


torch.manual_seed(24)
d = load_digits()
X = torch.tensor(d.data, dtype=torch.float32) / 16
Y = torch.tensor(d.target, dtype=torch.long)
loader = DataLoader(TensorDataset(X[:1400], Y[:1400]), batch_size=50, shuffle=True)
net = TernaryNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(10):
    net.train()
    hist = []
    for bx, by in loader:
        optimizer.zero_grad()
        loss = criterion(net(bx), by)
        loss.backward()
        optimizer.step()
        hist.append(loss.item())
    net.eval()
    with torch.no_grad():
        out = net(X[1400:])
        acc = (out.argmax(1) == Y[1400:]).float().mean().item()
    print(f"[epoch {epoch + 1}] loss {np.mean(hist):.4f} val_loss {criterion(out, Y[1400:]).item():.4f} val_acc {acc:.4f} zeros {net.zero_share():.2f}")
print(f"[final] val_acc {acc:.4f}")
