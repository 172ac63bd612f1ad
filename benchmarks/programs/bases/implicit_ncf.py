"""Neural collaborative filtering with negative sampling; ranks one held-out item against 50 others."""
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn

USERS, ITEMS, CLUSTERS = 200, 160, 8
rng = np.random.RandomState(77)
torch.manual_seed(77)

user_cluster = rng.randint(CLUSTERS, size=USERS)
item_cluster = rng.randint(CLUSTERS, size=ITEMS)
positives = defaultdict(list)
for u in range(USERS):
    own = np.where(item_cluster == user_cluster[u])[0]
    other = rng.choice(ITEMS, 3)
    likes = list(rng.permutation(np.concatenate([rng.choice(own, min(len(own), 11), replace=False), other])))
    positives[u] = likes
held_out = {u: next(i for i in positives[u] if item_cluster[i] == user_cluster[u]) for u in range(USERS)}
pairs = [(u, i) for u in range(USERS) for i in positives[u] if i != held_out[u]]


class NCF(nn.Module):
    def __init__(self, k=16):
        super().__init__()
        self.u = nn.Embedding(USERS, k)
        self.i = nn.Embedding(ITEMS, k)
        self.mlp = nn.Sequential(nn.Linear(2 * k, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.out = nn.Linear(16 + k, 1)

    def forward(self, users, items):
        a, b = self.u(users), self.i(items)
        return self.out(torch.cat([self.mlp(torch.cat([a, b], -1)), a * b], -1)).squeeze(-1)


def draw_epoch(negatives=3):
    data = []
    for u, i in pairs:
        data.append((u, i, 1.0))
        data.extend((u, j, 0.0) for j in rng.randint(ITEMS, size=negatives))
    data = np.array(data)
    rng.shuffle(data)
    return torch.LongTensor(data[:, 0]), torch.LongTensor(data[:, 1]), torch.FloatTensor(data[:, 2])


def hit_rate(model, at=10):
    model.eval()
    hits = 0
    with torch.no_grad():
        for u in range(USERS):
            others = rng.choice([i for i in range(ITEMS) if i not in positives[u]], 50, replace=False)
            cand = torch.LongTensor(np.concatenate([[held_out[u]], others]))
            scores = model(torch.full_like(cand, u), cand)
            hits += int((scores > scores[0]).sum() < at)
    model.train()
    return hits / USERS


ncf = NCF()
opt = torch.optim.Adam(ncf.parameters(), lr=5e-3, weight_decay=1e-5)
bce = nn.BCEWithLogitsLoss()
for epoch in range(18):
    uu, ii, ll = draw_epoch()
    total = 0.0
    for s in range(0, len(uu), 128):
        opt.zero_grad()
        loss = bce(ncf(uu[s:s + 128], ii[s:s + 128]), ll[s:s + 128])
        loss.backward()
        opt.step()
        total += loss.item() * len(uu[s:s + 128])
    hr = hit_rate(ncf)
    print(f"epoch {epoch} bce {total / len(uu):.4f} HR@10 {hr:.3f}")
print(f"Final HR@10: {hr:.3f}")
