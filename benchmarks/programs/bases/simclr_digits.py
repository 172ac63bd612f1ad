import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

torch.manual_seed(88)
raw = load_digits()
images = torch.tensor(raw.images, dtype=torch.float32)[:, None] / 16
labels = raw.target


def augment(x):
    """Shift by at most a pixel, change contrast, add noise."""
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    x = torch.roll(x, (dx, dy), (2, 3))
    x = x * (0.7 + 0.6 * torch.rand(len(x), 1, 1, 1))
    return x + 0.05 * torch.randn_like(x)


def nt_xent(z1, z2, tau=0.2):
    n = len(z1)
    z = F.normalize(torch.cat([z1, z2]), dim=1)
    sim = z @ z.T / tau
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    partner = torch.cat([torch.arange(n, 2 * n), torch.arange(n)])
    return F.cross_entropy(sim, partner)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
            nn.Linear(32 * 16, 64),
        )
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        h = self.backbone(x)
        return h, self.projector(h)


def knn_accuracy(encoder):
    encoder.eval()
    with torch.no_grad():
        h = F.normalize(encoder(images)[0], dim=1).numpy()
    encoder.train()
    knn = KNeighborsClassifier(5).fit(h[:300], labels[:300])
    return knn.score(h[1400:], labels[1400:])


encoder = Encoder()
optimizer = torch.optim.Adam(encoder.parameters(), lr=2e-3)
train = images[:1400]
for epoch in range(20):
    total, n = 0.0, 0
    for idx in torch.randperm(len(train)).split(128):
        x = train[idx]
        _, za = encoder(augment(x))
        _, zb = encoder(augment(x))
        loss = nt_xent(za, zb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, n = total + loss.item(), n + 1
    print(f"Epoch {epoch}: contrastive loss {total / n:.4f}, kNN accuracy {knn_accuracy(encoder):.4f}")
print(f"final kNN accuracy: {knn_accuracy(encoder):.4f}")
