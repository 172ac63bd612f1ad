# learned step size quantization (4 bits) on a small CNN
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(71)
BITS = 4
QN, QP = -(2 ** (BITS - 1)), 2 ** (BITS - 1) - 1


def round_pass(x):
    return (x.round() - x).detach() + x


def grad_scale(x, s):
    return (x - x * s).detach() + x * s


class LSQConv(nn.Conv2d):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.step = nn.Parameter(2 * self.weight.detach().abs().mean() / QP ** 0.5)

    def forward(self, x):
        s = grad_scale(self.step, 1 / (self.weight.numel() * QP) ** 0.5)
        w = round_pass((self.weight / s).clamp(QN, QP)) * s
        return F.conv2d(x, w, self.bias, self.stride, self.padding)


net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
    LSQConv(16, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
    LSQConv(24, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(128, 10),
)
d = load_digits()
x, y = torch.tensor(d.images / 16, dtype=torch.float32)[:, None], torch.tensor(d.target)
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 7)
for ep in range(7):
    net.train()
    for k, idx in enumerate(torch.randperm(1400).split(64)):
        loss = F.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        if k % 10 == 0:
            print(f"{ep}.{k:02d} loss {loss.item():.4f} steps {[round(m.step.item(), 4) for m in net if isinstance(m, LSQConv)]}")
    sched.step()
    net.eval()
    with torch.no_grad():
        z = net(x[1400:])
        print(f"{ep} val loss {F.cross_entropy(z, y[1400:]).item():.4f} val acc {(z.argmax(1) == y[1400:]).float().mean().item():.4f}")
print("final val acc", round((z.argmax(1) == y[1400:]).float().mean().item(), 4))
