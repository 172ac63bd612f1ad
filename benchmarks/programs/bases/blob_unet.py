import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(14)


class Blobs(Dataset):
    """Images with a few bright ellipses on a noisy, uneven background, and their masks."""

    def __init__(self, n, size=24):
        yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
        self.images, self.masks = [], []
        for _ in range(n):
            mask = torch.zeros(size, size)
            for _ in range(int(torch.randint(1, 4, (1,)))):
                cx, cy = torch.rand(2) * (size - 6) + 3
                rx, ry = torch.rand(2) * 3 + 2
                mask = torch.maximum(mask, ((((xx - cx) / rx) ** 2 + ((yy - cy) / ry) ** 2) < 1).float())
            slope = (xx * torch.randn(1) + yy * torch.randn(1)) / size
            self.images.append((mask + 0.5 * slope + 0.45 * torch.randn(size, size))[None])
            self.masks.append(mask[None])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        return self.images[k], self.masks[k]


def double_conv(cin, cout):
    return nn.Sequential(
        nn.Conv2d(cin, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
        nn.Conv2d(cout, cout, 3, padding=1), nn.BatchNorm2d(cout), nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.down1 = double_conv(1, c)
        self.down2 = double_conv(c, 2 * c)
        self.bottom = double_conv(2 * c, 2 * c)
        self.up1 = double_conv(4 * c, c)
        self.up2 = double_conv(2 * c, c)
        self.last = nn.Conv2d(c, 1, 1)

    def forward(self, x):
        d1 = self.down1(x)
        d2 = self.down2(F.max_pool2d(d1, 2))
        b = self.bottom(F.max_pool2d(d2, 2))
        u = self.up1(torch.cat([F.interpolate(b, scale_factor=2), d2], 1))
        u = self.up2(torch.cat([F.interpolate(u, scale_factor=2), d1], 1))
        return self.last(u)


def dice_loss(logits, target):
    p = torch.sigmoid(logits)
    inter = (p * target).sum((1, 2, 3))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2, 3)) + target.sum((1, 2, 3)) + 1)).mean()


def iou(logits, target):
    p = logits > 0
    t = target > 0.5
    return ((p & t).sum().item() + 1) / ((p | t).sum().item() + 1)


train_loader = DataLoader(Blobs(320), batch_size=16, shuffle=True)
val_loader = DataLoader(Blobs(80), batch_size=40)
model = UNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(5):
    model.train()
    for step, (img, msk) in enumerate(train_loader):
        out = model(img)
        loss = bce(out, msk) + dice_loss(out, msk)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 5 == 0:
            print(f"  epoch {epoch} batch {step}/{len(train_loader)} loss {loss.item():.4f}")
    model.eval()
    scores, vlosses = [], []
    with torch.no_grad():
        for img, msk in val_loader:
            out = model(img)
            vlosses.append((bce(out, msk) + dice_loss(out, msk)).item())
            scores.append(iou(out, msk))
    print(f"epoch {epoch}: val loss {sum(vlosses) / len(vlosses):.4f}, IoU {sum(scores) / len(scores):.4f}")
print(f"final IoU: {sum(scores) / len(scores):.4f}")
