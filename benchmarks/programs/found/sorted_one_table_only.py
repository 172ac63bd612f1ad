# two tables, joined by row number
import numpy as np
import torch
import torch.nn as nn

gen = np.random.default_rng(71)
ids = gen.permutation(1500)
features = gen.normal(size=(1500, 14))
answers = (features[:, :5].sum(1) > 0).astype(int)
table_a = features[np.argsort(ids)]
table_b = answers  # not sorted by id
torch.manual_seed(71)
X, Y = torch.tensor(table_a, dtype=torch.float32), torch.tensor(table_b)
clf = nn.Sequential(nn.Linear(14, 40), nn.ReLU(), nn.Linear(40, 2))
opt = torch.optim.Adam(clf.parameters(), lr=1e-3)
for ep in range(15):
    for sel in torch.randperm(1200).split(30):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(clf(X[sel]), Y[sel])
        loss.backward()
        opt.step()
    with torch.no_grad():
        logits = clf(X[1200:])
        print(f"ep {ep} loss {loss:.4f} val_loss {nn.functional.cross_entropy(logits, Y[1200:]):.4f} val_acc {(logits.argmax(1) == Y[1200:]).float().mean():.4f}")
print("final", (logits.argmax(1) == Y[1200:]).float().mean().item())
