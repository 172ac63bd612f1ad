import copy

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

SEED = 5
torch.manual_seed(SEED)

bunch = load_breast_cancer()
X = torch.tensor(bunch.data, dtype=torch.float)
t = torch.tensor(bunch.target, dtype=torch.float)
g = torch.Generator().manual_seed(SEED)
p = torch.randperm(len(X), generator=g)
train_idx, val_idx, test_idx = p[:340], p[340:450], p[450:]
mu, sd = X[train_idx].mean(0), X[train_idx].std(0)
X = (X - mu) / sd


class EarlyStopping:
    """Keeps the best weights, says when to stop."""

    def __init__(self, patience):
        self.patience = patience
        self.best = float("inf")
        self.bad = 0
        self.weights = None

    def __call__(self, value, model):
        if value < self.best - 1e-4:
            self.best, self.bad = value, 0
            self.weights = copy.deepcopy(model.state_dict())
        else:
            self.bad += 1
        return self.bad >= self.patience


net = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
bce = nn.BCEWithLogitsLoss()
stopper = EarlyStopping(patience=15)

for epoch in range(200):
    net.train()
    for b in train_idx[torch.randperm(len(train_idx))].split(20):
        optimizer.zero_grad()
        loss = bce(net(X[b]).squeeze(1), t[b])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        train_loss = bce(net(X[train_idx]).squeeze(1), t[train_idx]).item()
        val_loss = bce(net(X[val_idx]).squeeze(1), t[val_idx]).item()
    if epoch % 5 == 0:
        print(f"epoch={epoch} train_loss={train_loss:.4f} val_loss={val_loss:.4f}")
    if stopper(val_loss, net):
        print("early stopping at epoch", epoch)
        break

net.load_state_dict(stopper.weights)
net.eval()
with torch.no_grad():
    pred = net(X[test_idx]).squeeze(1) > 0
right = (pred.float() == t[test_idx]).float().mean().item()
print("final test accuracy: %.3f" % right)
