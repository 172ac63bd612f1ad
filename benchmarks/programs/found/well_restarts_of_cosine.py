import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(3)
d = load_digits()
x, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.3, momentum=0.9, nesterov=True)
sched = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(opt, T_0=5, T_mult=2)
for epoch in range(35):
    order = torch.randperm(1400)
    for i in range(0, 1400, 50):
        k = order[i:i + 50]
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[k]), y[k])
        loss.backward()
        opt.step()
        sched.step(epoch + i / 1400)
    with torch.no_grad():
        out = net(x[1400:])
    print(f"epoch {epoch} lr {sched.get_last_lr()[0]:.4f} loss {loss.item():.4f} val_loss {nn.functional.cross_entropy(out, y[1400:]).item():.4f} val_acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
print("final", (out.argmax(1) == y[1400:]).float().mean().item())
