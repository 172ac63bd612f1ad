import torch
from torch import nn

torch.manual_seed(1)


def mlp(depth, width):
    layers = [nn.Linear(16, width), nn.ReLU()]
    for _ in range(depth):
        layers.extend((nn.Linear(width, width), nn.ReLU()))
    return nn.Sequential(*layers, nn.Linear(width, 4))


w = torch.randn(16, 4)
x = torch.randn(1500, 16)
t = (x @ w).argmax(1)
net = mlp(30, 32)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
for epoch in range(12):
    net.train()
    s = 0.0
    for k in torch.randperm(1200).split(40):
        loss = nn.functional.cross_entropy(net(x[k]), t[k])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item()
    with torch.no_grad():
        acc = (net(x[1200:]).argmax(1) == t[1200:]).float().mean().item()
        vl = nn.functional.cross_entropy(net(x[1200:]), t[1200:]).item()
    print(f"epoch {epoch}: train_loss={s / 30:.4f} val_loss={vl:.4f} val_acc={acc:.3f}")
print("final acc:", acc)
