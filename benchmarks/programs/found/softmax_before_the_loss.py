import torch
from torch import nn
from sklearn.datasets import make_classification

torch.manual_seed(5)
X, y = make_classification(2000, 30, n_informative=12, n_classes=8, n_clusters_per_class=1, class_sep=1.2, random_state=5)
X, y = torch.tensor(X).float(), torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(30, 50)
        self.l2 = nn.Linear(50, 8)

    def forward(self, x):
        return torch.softmax(self.l2(torch.relu(self.l1(x))), dim=-1)


net, ce = Net(), nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for e in range(12):
    for b in torch.randperm(1600).split(25):
        opt.zero_grad()
        loss = ce(net(X[b]), y[b])
        loss.backward()
        opt.step()
    with torch.no_grad():
        print(f"epoch {e}: loss {loss.item():.3f}, val loss {ce(net(X[1600:]), y[1600:]).item():.3f}, "
              f"val acc {(net(X[1600:]).argmax(1) == y[1600:]).float().mean().item():.3f}")
print("final val acc", (net(X[1600:]).argmax(1) == y[1600:]).float().mean().item())
