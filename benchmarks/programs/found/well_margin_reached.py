# metric learning: most triplets satisfy the margin after a while, the loss is exactly zero on many batches
import torch
from torch import nn

torch.manual_seed(9)
means = torch.randn(8, 16) * 2
def sample(n):
    c = torch.randint(0, 8, (n,))
    return means[c] + 0.5 * torch.randn(n, 16), c
embed = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
opt = torch.optim.Adam(embed.parameters(), lr=2e-3)
triplet = nn.TripletMarginLoss(margin=0.5)
for step in range(400):
    a, ca = sample(32)
    p = means[ca] + 0.5 * torch.randn(32, 16)
    n = means[(ca + torch.randint(1, 8, (32,))) % 8] + 0.5 * torch.randn(32, 16)
    loss = triplet(embed(a), embed(p), embed(n))
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 20 == 0:
        print(step, "triplet loss", round(loss.item(), 5))
with torch.no_grad():
    xa, ca = sample(300); xb, cb = sample(300)
    near = torch.cdist(embed(xb), embed(xa)).argmin(1)
    print("final recall@1", (ca[near] == cb).float().mean().item())
