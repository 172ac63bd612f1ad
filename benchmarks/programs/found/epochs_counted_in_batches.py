import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.lr_scheduler import StepLR

torch.manual_seed(16)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
net = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
scheduler = StepLR(opt, step_size=5, gamma=0.5)
for epoch in range(20):
    net.train()
    s = 0.0
    for rows in torch.randperm(1400).split(40):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        loss.backward()
        opt.step()
        scheduler.step()
        s += loss.item() / 35
    net.eval()
    with torch.no_grad():
        out = net(x[1400:])
    print(f"epoch {epoch} lr {opt.param_groups[0]['lr']:.2e} loss {s:.4f} val {nn.functional.cross_entropy(out, y[1400:]).item():.4f} acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
print(f"final acc {(out.argmax(1) == y[1400:]).float().mean().item():.4f}")
