import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(59)
rng = np.random.default_rng(59)
N = 3000
columns = {
    "city": rng.integers(0, 20, N),
    "kind": rng.integers(0, 4, N),
    "energy": rng.integers(0, 7, N),
}
area = rng.gamma(6, 16, N)
rooms = np.clip((area / 24 + rng.normal(0, 0.8, N)).round(), 1, 9)
year = rng.integers(1900, 2023, N)
city_price = rng.normal(0, 0.35, 20)
price = np.exp(
    11.2 + city_price[columns["city"]] + 0.7 * np.log(area / 100) + 0.1 * (columns["kind"] == 2)
    - 0.04 * columns["energy"] + 0.002 * (year - 1960) + rng.normal(0, 0.12, N)
)


class Housing(Dataset):
    def __init__(self, rows, stats=None):
        numeric = np.stack([np.log(area[rows]), rooms[rows], year[rows]], 1)
        self.stats = stats or (numeric.mean(0), numeric.std(0))
        self.numeric = ((numeric - self.stats[0]) / self.stats[1]).astype(np.float32)
        self.categories = np.stack([c[rows] for c in columns.values()], 1)
        self.target = (np.log(price[rows]) - 11.0).astype(np.float32)

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        return self.categories[i], self.numeric[i], self.target[i]


class TabularModel(nn.Module):
    def __init__(self, cardinalities, n_numeric, layers=(64, 32), p=0.05):
        super().__init__()
        self.embeddings = nn.ModuleList(nn.Embedding(c, min(8, (c + 1) // 2)) for c in cardinalities)
        width = sum(e.embedding_dim for e in self.embeddings) + n_numeric
        blocks = []
        for out in layers:
            blocks += [nn.Linear(width, out), nn.ReLU(), nn.BatchNorm1d(out), nn.Dropout(p)]
            width = out
        self.layers = nn.Sequential(*blocks, nn.Linear(width, 1))

    def forward(self, cat, num):
        parts = [emb(cat[:, k]) for k, emb in enumerate(self.embeddings)]
        return self.layers(torch.cat([*parts, num], 1)).squeeze(1)


order = rng.permutation(N)
train_set = Housing(order[:2400])
valid_set = Housing(order[2400:], train_set.stats)
train_dl = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
valid_dl = DataLoader(valid_set, batch_size=300)
model = TabularModel([20, 4, 7], 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
mse = nn.MSELoss()

print("epoch\ttrain\tvalid\trmse")
for epoch in range(12):
    model.train()
    train_losses = []
    for cat, num, target in train_dl:
        loss = mse(model(cat, num), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_losses.append(loss.item())
    scheduler.step()
    model.eval()
    valid_losses = []
    with torch.no_grad():
        for cat, num, target in valid_dl:
            valid_losses.append(mse(model(cat, num), target).item())
    rmse = np.sqrt(np.mean(valid_losses))
    print(f"{epoch}\t{np.mean(train_losses):.4f}\t{np.mean(valid_losses):.4f}\t{rmse:.4f}")
print(f"final rmse of log price: {rmse:.4f}")
