# cyclic learning rate, weights averaged over the ends of the cycles
import torch
from sklearn.datasets import make_classification
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(74)
X, y = make_classification(3000, 20, n_informative=10, n_classes=4, n_clusters_per_class=2, class_sep=1.4, random_state=74)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y)
X = (X - X.mean(0)) / X.std(0)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
averaged = AveragedModel(net)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
CYCLE = 120
sched = torch.optim.lr_scheduler.CyclicLR(opt, base_lr=0.005, max_lr=0.1, step_size_up=20, step_size_down=CYCLE - 20)
step = 0
for epoch in range(16):
    net.train()
    total = 0.0
    for rows in torch.randperm(2400).split(50):
        loss = nn.functional.cross_entropy(net(X[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        step += 1
        total += loss.item() * len(rows)
        if step % CYCLE == 0:
            averaged.update_parameters(net)
    with torch.no_grad():
        own = (net(X[2400:]).argmax(1) == y[2400:]).float().mean().item()
        avg = (averaged(X[2400:]).argmax(1) == y[2400:]).float().mean().item()
    print(f"epoch {epoch + 1} lr {opt.param_groups[0]['lr']:.4f} loss {total / 2400:.4f} accuracy {own:.4f} averaged {avg:.4f}")
print(f"final averaged accuracy {avg:.4f}")
