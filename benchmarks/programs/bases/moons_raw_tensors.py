# two moons without nn.Module and without an optimizer
import torch
from sklearn.datasets import make_moons

torch.manual_seed(0)
xs, ys = make_moons(1200, noise=0.15, random_state=0)
xs = torch.tensor(xs, dtype=torch.float32)
ys = torch.tensor(ys, dtype=torch.float32)
tx, ty, vx, vy = xs[:900], ys[:900], xs[900:], ys[900:]

hidden = 32
w1 = (torch.randn(2, hidden) * 0.7).requires_grad_()
b1 = torch.zeros(hidden, requires_grad=True)
w2 = (torch.randn(hidden, 1) / hidden ** 0.5).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
params = [w1, b1, w2, b2]
lr = 0.5


def net(x):
    h = torch.tanh(x @ w1 + b1)
    return (h @ w2 + b2)[:, 0]


for epoch in range(60):
    order = torch.randperm(len(tx))
    total = 0.0
    for k in range(0, len(tx), 30):
        rows = order[k:k + 30]
        z = net(tx[rows])
        loss = torch.nn.functional.binary_cross_entropy_with_logits(z, ty[rows])
        loss.backward()
        with torch.no_grad():
            for w in params:
                w -= lr * w.grad
                w.grad = None
        total += loss.item() * len(rows)
    if epoch % 5 == 4:
        with torch.no_grad():
            ok = ((net(vx) > 0) == (vy > 0.5)).float().mean()
        print(epoch + 1, round(total / len(tx), 4), round(ok.item(), 4))
print("final accuracy:", round(ok.item(), 4))
