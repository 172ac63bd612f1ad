import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(25)
x = torch.randn(1200, 1, 32)
phase = torch.randint(0, 3, (1200,))
t = torch.linspace(0, 6.28, 32)
x = 0.8 * x + torch.sin(t * (phase[:, None] + 1.0))[:, None]
train, val = random_split(TensorDataset(x, phase), [1000, 200])
tl, vl = DataLoader(train, batch_size=10, shuffle=True), DataLoader(val, batch_size=100)
net = nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.GroupNorm(4, 16), nn.ReLU(), nn.AdaptiveMaxPool1d(8), nn.Flatten(), nn.Linear(128, 3))
opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
EVERY = 4
for epoch in range(8):
    net.train()
    for i, (a, b) in enumerate(tl):
        loss = nn.functional.cross_entropy(net(a), b)
        (loss / EVERY).backward()
        if (i + 1) % EVERY == 0:
            opt.step()
            opt.zero_grad()
    net.eval()
    with torch.no_grad():
        right = sum((net(a).argmax(1) == b).sum().item() for a, b in vl)
    print(f"epoch {epoch} loss {loss.item():.4f} val_acc {right / 200:.3f}")
print("final", right / 200)
