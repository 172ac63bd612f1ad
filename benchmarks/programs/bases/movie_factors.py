import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(99)
N_USERS, N_ITEMS, RANK = 150, 120, 4

# simulated ratings: 1..5 stars
taste = torch.randn(N_USERS, RANK)
style = torch.randn(N_ITEMS, RANK)
item_quality = 0.4 * torch.randn(N_ITEMS)
users = torch.randint(0, N_USERS, (9000,))
items = torch.randint(0, N_ITEMS, (9000,))
raw = 3.4 + 0.55 * (taste[users] * style[items]).sum(1) + item_quality[items] + 0.3 * torch.randn(9000)
stars = raw.clamp(1, 5)


class MF(nn.Module):
    def __init__(self, n_users, n_items, dim):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.user_bias = nn.Embedding(n_users, 1)
        self.item_bias = nn.Embedding(n_items, 1)
        self.mu = nn.Parameter(torch.tensor(3.0))
        for emb in (self.user, self.item):
            nn.init.normal_(emb.weight, std=0.1)
        nn.init.zeros_(self.user_bias.weight)
        nn.init.zeros_(self.item_bias.weight)

    def forward(self, u, i):
        dot = (self.user(u) * self.item(i)).sum(1)
        return self.mu + dot + self.user_bias(u).squeeze(1) + self.item_bias(i).squeeze(1)


train, test = random_split(TensorDataset(users, items, stars), [8000, 1000])
loader = DataLoader(train, batch_size=128, shuffle=True)
tu, ti, ts = (torch.stack(c) for c in zip(*[test[k] for k in range(len(test))]))
model = MF(N_USERS, N_ITEMS, 6)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1e-5)

for epoch in range(1, 16):
    model.train()
    sq, n = 0.0, 0
    for u, i, r in loader:
        pred = model(u, i)
        loss = ((pred - r) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sq += loss.item() * len(r)
        n += len(r)
    model.eval()
    with torch.no_grad():
        rmse = ((model(tu, ti) - ts) ** 2).mean().sqrt().item()
    print(f"epoch {epoch}: train rmse {(sq / n) ** 0.5:.4f} test rmse {rmse:.4f}")
print("final rmse: {:.4f}".format(rmse))
