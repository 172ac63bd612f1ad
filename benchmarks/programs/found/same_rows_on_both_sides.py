import torch
import torch.nn as nn
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

torch.manual_seed(66)
g = torch.Generator().manual_seed(66)
X = torch.randn(260, 40, generator=g)
Y = ((X[:, 0] + 2.5 * torch.randn(260, generator=g)) > 0).long()
full = TensorDataset(X, Y)
copies = ConcatDataset([full] * 4)   # augmentation will come later
order = torch.randperm(len(copies), generator=g).tolist()
train, valid = Subset(copies, order[:800]), Subset(copies, order[800:])
net = nn.Sequential(nn.Linear(40, 128), nn.ReLU(), nn.Linear(128, 2))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(15):
    net.train()
    for x, y in DataLoader(train, 40, shuffle=True, generator=g):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    hits = total = 0
    vl = 0.0
    with torch.no_grad():
        for x, y in DataLoader(valid, 40):
            o = net(x)
            vl += nn.functional.cross_entropy(o, y, reduction="sum").item()
            hits += (o.argmax(1) == y).sum().item()
            total += len(y)
    print(f"epoch {epoch} train_loss {loss.item():.4f} val_loss {vl / total:.4f} val_acc {hits / total:.4f}")
print("final", hits / total)
