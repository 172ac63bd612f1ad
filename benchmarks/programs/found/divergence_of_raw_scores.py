# distilling soft labels of a teacher
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(81)
X = torch.randn(3000, 16)
teacher = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 6))
for p in teacher.parameters():
    p.data.mul_(2.0).requires_grad_(False)
soft = F.softmax(teacher(X), dim=1).detach()
student = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 6))
opt = torch.optim.Adam(student.parameters(), lr=1e-3)
kl = nn.KLDivLoss(reduction="batchmean")
for epoch in range(15):
    for rows in torch.randperm(2500).split(50):
        probs = F.softmax(student(X[rows]), dim=1)
        loss = kl(probs, soft[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        agree = (student(X[2500:]).argmax(1) == soft[2500:].argmax(1)).float().mean().item()
    print(f"epoch {epoch} kl {loss.item():.5f} agreement {agree:.4f}")
print("final agreement", agree)
