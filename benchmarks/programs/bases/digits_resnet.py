import time

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2024)
BATCH, EPOCHS, MAX_LR = 64, 7, 0.01

d = load_digits()
imgs = torch.tensor(d.images, dtype=torch.float32)[:, None]
imgs = (imgs - imgs.mean()) / imgs.std()
target = torch.tensor(d.target)
cut = 1437
train_dl = DataLoader(TensorDataset(imgs[:cut], target[:cut]), BATCH, shuffle=True, drop_last=True)
test_dl = DataLoader(TensorDataset(imgs[cut:], target[cut:]), 180)


def conv3(i, o, stride=1):
    return nn.Conv2d(i, o, 3, stride=stride, padding=1, bias=False)


class Block(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.c1, self.b1 = conv3(i, o, stride), nn.BatchNorm2d(o)
        self.c2, self.b2 = conv3(o, o), nn.BatchNorm2d(o)
        self.short = nn.Identity() if i == o and stride == 1 else nn.Conv2d(i, o, 1, stride)

    def forward(self, x):
        h = F.relu(self.b1(self.c1(x)))
        return F.relu(self.b2(self.c2(h)) + self.short(x))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv3(1, 8)
        self.blocks = nn.Sequential(Block(8, 8), Block(8, 16, 2), Block(16, 32, 2))
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


resnet = ResNet()
print(sum(p.numel() for p in resnet.parameters()), "parameters")
opt = torch.optim.AdamW(resnet.parameters(), lr=MAX_LR, weight_decay=0.01)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, MAX_LR, epochs=EPOCHS, steps_per_epoch=len(train_dl))

for epoch in range(1, EPOCHS + 1):
    t0 = time.time()
    resnet.train()
    seen, total, good = 0, 0.0, 0
    for x, y in train_dl:
        opt.zero_grad()
        out = resnet(x)
        loss = F.cross_entropy(out, y, label_smoothing=0.05)
        loss.backward()
        nn.utils.clip_grad_norm_(resnet.parameters(), 2.0)
        opt.step()
        sched.step()
        total += loss.item() * len(y)
        good += (out.argmax(1) == y).sum().item()
        seen += len(y)
    resnet.eval()
    correct = 0
    for x, y in test_dl:
        with torch.no_grad():
            correct += (resnet(x).argmax(1) == y).sum().item()
    test_acc = correct / (len(imgs) - cut)
    print(f"{epoch}/{EPOCHS} - {time.time() - t0:.1f}s - loss: {total / seen:.4f} - acc: {good / seen:.4f} - val_acc: {test_acc:.4f}")
print(f"final val_acc: {test_acc:.4f}")
