import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
d = load_digits()
order = d.target.argsort(kind="stable")          # as read from one folder after the other
x = torch.tensor(d.images[order] / 16, dtype=torch.float32)[:, None]
y = torch.tensor(d.target[order])
pick = torch.arange(len(x)) % 5 == 0
train = DataLoader(TensorDataset(x[~pick], y[~pick]), batch_size=32)
test_x, test_y = x[pick], y[pick]
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(8):
    for xb, yb in train:
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        out = net(test_x)
    print(f"epoch {epoch} last loss {loss.item():.4f} test loss {nn.functional.cross_entropy(out, test_y).item():.4f} acc {(out.argmax(1) == test_y).float().mean().item():.4f}")
print("final acc", (out.argmax(1) == test_y).float().mean().item())
