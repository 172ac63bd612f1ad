import torch
import torch.nn as nn

torch.manual_seed(31)


class Experts(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.gate = nn.Linear(5, n)
        self.experts = [nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1)) for _ in range(n)]

    def forward(self, x):
        g = torch.softmax(self.gate(x), -1)
        return (torch.cat([e(x) for e in self.experts], -1) * g).sum(-1)


x = torch.rand(2000, 5) * 4 - 2
y = torch.where(x[:, 0] > 0, torch.sin(2 * x[:, 1]), x[:, 2] * x[:, 3])
model = Experts()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(15):
    total = 0.0
    for rows in torch.randperm(1600).split(40):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 40
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x[1600:]), y[1600:]).item()
    print(f"epoch {epoch} train {total:.4f} val {val:.4f}")
print(f"final val {val:.4f}")
