import numpy as np
import torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score

torch.manual_seed(71)
X, y = make_classification(6000, 12, n_informative=8, weights=[0.94], class_sep=1.5, flip_y=0.005, random_state=71)
kind = (np.abs(X[:, 0] * 2).astype(int) % 6)
X, kind, y = torch.tensor(X[:, 1:]).float(), torch.tensor(kind), torch.tensor(y).float()


class Tab(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 3)
        self.mlp = nn.Sequential(nn.Linear(14, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Dropout(0.1), nn.Linear(64, 1))

    def forward(self, num, cat):
        return self.mlp(torch.cat([num, self.emb(cat)], 1)).squeeze(1)


net = Tab()
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-5)
crit = nn.BCEWithLogitsLoss(pos_weight=(y[:5000] == 0).sum() / (y[:5000] == 1).sum())
for epoch in range(15):
    net.train()
    ls = []
    for i in torch.randperm(5000).split(100):
        loss = crit(net(X[i], kind[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
        ls.append(loss.item())
    net.eval()
    with torch.no_grad():
        z = net(X[5000:], kind[5000:])
    print(f"epoch {epoch} loss {np.mean(ls):.4f} val_loss {crit(z, y[5000:]).item():.4f} auc {roc_auc_score(y[5000:], z):.4f}")
print("final auc", roc_auc_score(y[5000:], z))
