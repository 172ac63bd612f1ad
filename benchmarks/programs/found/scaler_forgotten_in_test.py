import torch
import numpy as np
from torch import nn
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=3)
scaler = StandardScaler()
X_train = scaler.fit_transform(X_train)

torch.manual_seed(3)
to = lambda a: torch.tensor(np.asarray(a), dtype=torch.float32)


class Classifier(nn.Module):
    def __init__(self, n_in, hidden=24):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.fc2 = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x))).squeeze(-1)


clf = Classifier(30)
opt = torch.optim.Adam(clf.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
xt, yt = to(X_train), to(y_train)
for epoch in range(25):
    clf.train()
    order = torch.randperm(len(xt))
    s = 0
    for k in range(0, len(xt), 16):
        sel = order[k:k + 16]
        opt.zero_grad()
        loss = bce(clf(xt[sel]), yt[sel])
        loss.backward()
        opt.step()
        s += loss.item() * len(sel)
    clf.eval()
    with torch.no_grad():
        z = clf(to(X_test))
        vl, va = bce(z, to(y_test)).item(), ((z > 0).float() == to(y_test)).float().mean().item()
    print(f"Epoch {epoch:>3} | loss {s / len(xt):.4f} | test loss {vl:.4f} | test acc {va:.3f}")
print("final", va)
