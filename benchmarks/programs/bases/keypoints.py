import torch
from torch import nn

torch.manual_seed(55)


def scene(n, size=20):
    """Two marked points in each image: a bright dot and a dark one; targets are their places in [-1, 1]."""
    at = torch.rand(n, 2, 2) * (size - 5) + 2
    grid = torch.arange(size).float()
    img = 0.2 * torch.randn(n, 1, size, size)
    for k, sign in enumerate((1.0, -1.0)):
        dx = (grid[None, None, :] - at[:, k, 0, None, None]) ** 2
        dy = (grid[None, :, None] - at[:, k, 1, None, None]) ** 2
        img[:, 0] += 1.5 * sign * torch.exp(-(dx + dy) / 4)
    return img, (at / (size - 1) * 2 - 1).flatten(1)


class PoseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ELU(),
            nn.Conv2d(16, 24, 3, stride=2, padding=1), nn.ELU(),
            nn.Flatten(),
        )
        self.regress = nn.Sequential(nn.Linear(24 * 25, 64), nn.ELU(), nn.Linear(64, 4), nn.Tanh())

    def forward(self, x):
        return self.regress(self.features(x))


images, places = scene(1500)
val_images, val_places = scene(300)
posenet = PoseNet()
optimizer = torch.optim.Adam(posenet.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
n_batches = len(images) // 50
for epoch in range(12):
    posenet.train()
    total = 0.0
    order = torch.randperm(len(images))
    for b in range(n_batches):
        take = order[b * 50:(b + 1) * 50]
        error = nn.functional.l1_loss(posenet(images[take]), places[take])
        optimizer.zero_grad()
        error.backward()
        optimizer.step()
        total += error.item()
    posenet.eval()
    with torch.no_grad():
        val_error = nn.functional.l1_loss(posenet(val_images), val_places).item()
    scheduler.step(val_error)
    print(f"Epoch {epoch + 1:>2}: L1 {total / n_batches:.4f}  val L1 {val_error:.4f}  lr {optimizer.param_groups[0]['lr']:.1e}")
print("final val L1:", f"{val_error:.4f}")
