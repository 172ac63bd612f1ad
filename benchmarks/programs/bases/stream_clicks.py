"""Click prediction from an endless stream (IterableDataset), hashed features, small batches accumulated."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, IterableDataset

torch.manual_seed(58)
BUCKETS, FIELDS = 400, 5
hidden_weight = torch.randn(FIELDS, BUCKETS // FIELDS) * 1.2
hidden_pair = torch.randn(BUCKETS // FIELDS) * 0.5


class Clicks(IterableDataset):
    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.n):
            raw = torch.randint(0, BUCKETS // FIELDS, (FIELDS,), generator=g)
            logit = hidden_weight[torch.arange(FIELDS), raw].sum() + hidden_pair[raw[0]]
            click = torch.rand(1, generator=g) < torch.sigmoid(logit)
            yield raw + torch.arange(FIELDS) * (BUCKETS // FIELDS), click[0].float()


class WideAndDeep(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.EmbeddingBag(BUCKETS, 1, mode="sum")
        self.deep = nn.Embedding(BUCKETS, 8)
        self.mlp = nn.Sequential(nn.Linear(8 * FIELDS, 32), nn.ReLU(), nn.Linear(32, 1))
        nn.init.zeros_(self.wide.weight)

    def forward(self, ids):
        return (self.wide(ids) + self.mlp(self.deep(ids).flatten(1))).squeeze(1)


def logloss(model, loader):
    model.eval()
    with torch.no_grad():
        parts = [(nn.functional.binary_cross_entropy_with_logits(model(i), c, reduction="sum").item(), len(c)) for i, c in loader]
    model.train()
    return sum(p for p, _ in parts) / sum(n for _, n in parts)


ACCUMULATE = 4
model = WideAndDeep()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
holdout = DataLoader(Clicks(1500, seed=999), batch_size=500)
shown = 0.0
for i, (ids, click) in enumerate(DataLoader(Clicks(16000, seed=58), batch_size=16), 1):
    loss = nn.functional.binary_cross_entropy_with_logits(model(ids), click)
    (loss / ACCUMULATE).backward()
    shown += loss.item()
    if i % ACCUMULATE == 0:
        optimizer.step()
        optimizer.zero_grad()
    if i % 100 == 0:
        print(f"seen {i * 16} logloss {shown / 100:.4f} holdout {logloss(model, holdout):.4f}")
        shown = 0.0
print(f"final holdout logloss {logloss(model, holdout):.4f}")
