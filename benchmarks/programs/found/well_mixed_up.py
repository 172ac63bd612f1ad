"""mixup and label smoothing: the training loss stays high on purpose"""
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(91)
np.random.seed(91)
d = load_digits()
X, Y = torch.tensor(d.images).float()[:, None] / 16, torch.tensor(d.target)
net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                    nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(128, 10))
soft = nn.CrossEntropyLoss(label_smoothing=0.1)
hard = nn.CrossEntropyLoss()
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4, nesterov=True)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, epochs=12, steps_per_epoch=28)
for epoch in range(12):
    net.train()
    tot = 0.0
    for rows in torch.randperm(1400).split(50):
        lam, other = np.random.beta(0.4, 0.4), rows[torch.randperm(len(rows))]
        out = net(lam * X[rows] + (1 - lam) * X[other])
        loss = lam * soft(out, Y[rows]) + (1 - lam) * soft(out, Y[other])
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        tot += loss.item()
    net.eval()
    with torch.no_grad():
        out = net(X[1400:])
    print(f"epoch {epoch}: train_loss={tot / 28:.4f} val_loss={hard(out, Y[1400:]).item():.4f} val_acc={(out.argmax(1) == Y[1400:]).float().mean().item():.4f}")
print("final", (out.argmax(1) == Y[1400:]).float().mean().item())
