import torch, torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
X, Y = load_digits(return_X_y=True)
X, Y = torch.tensor(X / 16).float(), torch.tensor(Y)
layers = [nn.Linear(64, 50), nn.Sigmoid()]
for _ in range(7):
    layers.extend([nn.Linear(50, 50), nn.Sigmoid()])
layers.append(nn.Linear(50, 10))
net = nn.Sequential(*layers)
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
for ep in range(12):
    perm = torch.randperm(1400)
    s = 0
    for b in perm.split(20):
        l = nn.functional.cross_entropy(net(X[b]), Y[b])
        sgd.zero_grad(); l.backward(); sgd.step()
        s += l.item()
    print("epoch", ep, "loss", s / 70, "test acc", (net(X[1400:]).argmax(1) == Y[1400:]).float().mean().item())
print("final test acc", (net(X[1400:]).argmax(1) == Y[1400:]).float().mean().item())
