import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

torch.manual_seed(36)
X, y = load_breast_cancer(return_X_y=True)
X = torch.tensor(StandardScaler().fit(X[:400]).transform(X), dtype=torch.float32)
y = torch.tensor(y, dtype=torch.float32)


def sign_ste(x):
    hard = torch.where(x >= 0, 1.0, -1.0)
    soft = x.clamp(-1, 1)
    return soft + (hard - soft).detach()


class BinaryNet(torch.nn.Module):
    """Hidden units are -1 or +1."""

    def __init__(self):
        super().__init__()
        self.w1 = torch.nn.Linear(30, 40)
        self.w2 = torch.nn.Linear(40, 20)
        self.w3 = torch.nn.Linear(20, 1)

    def forward(self, x):
        return self.w3(sign_ste(self.w2(sign_ste(self.w1(x))))).view(-1)


net = BinaryNet()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
loss_fn = torch.nn.SoftMarginLoss()
sign = 2 * y - 1
for epoch in range(25):
    total = 0.0
    for rows in torch.randperm(400).split(25):
        loss = loss_fn(net(X[rows]), sign[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 16
    with torch.no_grad():
        out = net(X[400:])
    print(f"Ep {epoch:02d} | train {total:.4f} | val {loss_fn(out, sign[400:]):.4f} | acc {((out > 0) == (y[400:] > 0.5)).float().mean():.4f}")
print(f"Final | acc {((out > 0) == (y[400:] > 0.5)).float().mean():.4f}")
