# knowledge of a big net in a small one
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_moons

torch.manual_seed(14)
x, y = make_moons(1200, noise=0.2, random_state=14)
x, y = torch.tensor(x).float(), torch.tensor(y)
teacher = nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 2))
ot = torch.optim.Adam(teacher.parameters(), 1e-2)
for _ in range(150):
    k = torch.randint(0, 900, (64,))
    l = F.cross_entropy(teacher(x[k]), y[k])
    ot.zero_grad(); l.backward(); ot.step()
teacher.requires_grad_(False).eval()
student = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
os_ = torch.optim.Adam(student.parameters(), 1e-2)
T = 2.0
for step in range(500):
    k = torch.randint(0, 900, (64,))
    s, t = student(x[k]), teacher(x[k])
    loss = 0.5 * F.cross_entropy(s, y[k]) + 0.5 * T * T * F.kl_div(F.log_softmax(s / T, 1), F.softmax(t / T, 1), reduction="batchmean")
    os_.zero_grad(); loss.backward(); os_.step()
    if step % 25 == 0:
        with torch.no_grad():
            print(f"step {step} loss {loss.item():.4f} val_acc {(student(x[900:]).argmax(1) == y[900:]).float().mean().item():.3f}")
print("final", (student(x[900:]).argmax(1) == y[900:]).float().mean().item())
