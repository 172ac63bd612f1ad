import torch
from torch import nn

torch.manual_seed(31)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(24, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(96, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.4))
        self.head = nn.Linear(96, 3)

    def forward(self, x):
        return self.head(self.body(x))


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        out = net(x)
    return nn.functional.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


x = torch.randn(600, 24)
y = (x[:, :2].sum(1) > 0.5).long() + (x[:, 2] > 0.3).long()
net = Net()
net.train()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
print("before", evaluate(net, x[300:], y[300:]))
for epoch in range(40):
    for k in torch.randperm(300).split(30):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[k]), y[k])
        loss.backward()
        opt.step()
    vl, va = evaluate(net, x[300:], y[300:])
    print(f"epoch {epoch} train {loss.item():.4f} val {vl:.4f} acc {va:.3f}")
print("final", va)
