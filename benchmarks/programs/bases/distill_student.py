import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(65)
d = load_digits()
x = torch.tensor(d.data, dtype=torch.float32) / 8 - 1
y = torch.tensor(d.target)
xtr, ytr, xte, yte = x[:1300], y[:1300], x[1300:], y[1300:]
TEMPERATURE, ALPHA = 3.0, 0.7


def accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(xte).argmax(1) == yte).float().mean().item()


teacher = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Dropout(0.3), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))
opt_t = torch.optim.Adam(teacher.parameters(), lr=1e-3)
for epoch in range(8):
    teacher.train()
    for b in torch.randperm(1300).split(64):
        loss_t = F.cross_entropy(teacher(xtr[b]), ytr[b])
        opt_t.zero_grad()
        loss_t.backward()
        opt_t.step()
    print(f"teacher epoch {epoch} loss {loss_t.item():.4f} acc {accuracy(teacher):.4f}")

student = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))
opt_s = torch.optim.Adam(student.parameters(), lr=3e-3)
teacher.eval()
for epoch in range(12):
    student.train()
    total = 0.0
    for b in torch.randperm(1300).split(64):
        with torch.no_grad():
            soft = F.softmax(teacher(xtr[b]) / TEMPERATURE, 1)
        out = student(xtr[b])
        kd = F.kl_div(F.log_softmax(out / TEMPERATURE, 1), soft, reduction="batchmean") * TEMPERATURE ** 2
        loss = ALPHA * kd + (1 - ALPHA) * F.cross_entropy(out, ytr[b])
        opt_s.zero_grad()
        loss.backward()
        opt_s.step()
        total += loss.item() * len(b)
    print(f"student epoch {epoch} loss {total / 1300:.4f} acc {accuracy(student):.4f}")
print(f"final student accuracy: {accuracy(student):.4f}")
