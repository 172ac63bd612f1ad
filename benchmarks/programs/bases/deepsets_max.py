import torch
import torch.nn as nn

torch.manual_seed(29)


def sets(n, most=10):
    """Sets of 2 to `most` points; the target is the area of their bounding box."""
    size = torch.randint(2, most + 1, (n,))
    pts = torch.rand(n, most, 2)
    mask = torch.arange(most)[None, :] < size[:, None]
    hi = pts.masked_fill(~mask[..., None], -1).amax(1)
    lo = pts.masked_fill(~mask[..., None], 2).amin(1)
    return pts * mask[..., None], mask, (hi - lo).prod(1)


class DeepSet(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU())
        self.rho = nn.Sequential(nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, pts, mask):
        h = self.phi(pts).masked_fill(~mask[..., None], 0.0)
        return self.rho(h.amax(1)).squeeze(-1)


pts, mask, area = sets(3000)
vp, vm, va = sets(600)
model = DeepSet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(12):
    epoch_loss = []
    for rows in torch.randperm(3000).split(60):
        loss = nn.functional.mse_loss(model(pts[rows], mask[rows]), area[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        epoch_loss.append(loss.item())
    with torch.no_grad():
        val = nn.functional.mse_loss(model(vp, vm), va).item()
    print("epoch: %d train_mse: %.5f val_mse: %.5f r2: %.4f" % (epoch, sum(epoch_loss) / len(epoch_loss), val, 1 - val / va.var().item()))
print("final r2: %.4f" % (1 - val / va.var().item()))
