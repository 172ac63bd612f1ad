"""Train a trunk on digits 0-4, freeze it, and fit a new head for digits 5-9."""
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(92)
digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16
labels = torch.tensor(digits.target)


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Flatten(),
        )
        self.head = nn.Linear(32 * 16, n_out)

    def forward(self, x):
        return self.head(self.trunk(x))


def fit(net, x, y, params, lr, epochs, name):
    opt = torch.optim.SGD(params, lr=lr, momentum=0.9)
    for e in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
        print(f"{name} epoch {e + 1} loss {total / len(x):.4f}")


low, high = labels < 5, labels >= 5
base = Net(5)
fit(base, images[low][:700], labels[low][:700], base.parameters(), 0.02, 4, "pretrain")
torch.save(base.trunk.state_dict(), "trunk.pt")

net = Net(5)
net.trunk.load_state_dict(torch.load("trunk.pt"))
for p in net.trunk.parameters():
    p.requires_grad = False
x, y = images[high], labels[high] - 5
fit(net, x[:600], y[:600], net.head.parameters(), 0.02, 6, "finetune")
net.eval()
with torch.no_grad():
    acc = (net(x[600:]).argmax(1) == y[600:]).float().mean().item()
print(f"final accuracy on new digits: {acc:.4f}")
