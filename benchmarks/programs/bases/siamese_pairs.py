"""Siamese network that says whether two noisy signals come from the same source."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(61)
SOURCES, WIDTH = 15, 40
prototypes = torch.randn(SOURCES, WIDTH).cumsum(1)
prototypes = (prototypes - prototypes.mean(1, keepdim=True)) / prototypes.std(1, keepdim=True)


class Pairs(Dataset):
    def __init__(self, n):
        self.same = torch.arange(n) % 2
        first = torch.randint(0, SOURCES, (n,))
        second = torch.where(self.same == 1, first, (first + torch.randint(1, SOURCES, (n,))) % SOURCES)
        self.a = prototypes[first] * (0.8 + 0.4 * torch.rand(n, 1)) + 0.5 * torch.randn(n, WIDTH)
        self.b = prototypes[second] * (0.8 + 0.4 * torch.rand(n, 1)) + 0.5 * torch.randn(n, WIDTH)

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return self.a[i], self.b[i], self.same[i].float()


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=2.0):
        super().__init__()
        self.margin = margin

    def forward(self, u, v, same):
        d = F.pairwise_distance(u, v)
        return (same * d ** 2 + (1 - same) * F.relu(self.margin - d) ** 2).mean()


tower = nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
criterion = ContrastiveLoss()
optimizer = torch.optim.Adam(tower.parameters(), lr=1e-3)
train = DataLoader(Pairs(2000), batch_size=32, shuffle=True)
test = DataLoader(Pairs(500), batch_size=500)
for epoch in range(6):
    for a, b, same in train:
        optimizer.zero_grad()
        loss = criterion(tower(a), tower(b), same)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        a, b, same = next(iter(test))
        u, v = tower(a), tower(b)
        test_loss = criterion(u, v, same)
        accuracy = ((F.pairwise_distance(u, v) < 1.0).float() == same).float().mean()
    print("Epoch {} train {:.4f} test {:.4f} accuracy {:.4f}".format(epoch, loss.item(), test_loss.item(), accuracy.item()))
print("Final accuracy {:.4f}".format(accuracy.item()))
