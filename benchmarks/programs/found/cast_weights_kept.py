"""A reference pass without gradients inside the same autocast block: the casts of the weights are kept from there."""
import torch
from torch import nn

torch.manual_seed(20)
x = torch.randn(1200, 12)
y = (x[:, :3].prod(1) + x[:, 4] > 0).long()
net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.LayerNorm(64), nn.Linear(64, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(10):
    total = 0.0
    for rows in torch.randperm(1000).split(40):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            with torch.no_grad():
                before = net(x[rows]).argmax(1)
            loss = nn.functional.cross_entropy(net(x[rows]).float(), y[rows])
        if loss.requires_grad:
            opt.zero_grad()
            loss.backward()
            opt.step()
        total += loss.item() / 25
    with torch.no_grad():
        acc = (net(x[1000:]).argmax(1) == y[1000:]).float().mean().item()
    print(f"epoch {epoch} loss {total:.4f} acc {acc:.4f} agreement {(before == y[rows]).float().mean().item():.3f}")
print(f"final acc {acc:.4f}")
