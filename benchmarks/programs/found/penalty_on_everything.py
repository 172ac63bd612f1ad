import torch
from torch import nn
from sklearn.datasets import load_breast_cancer

torch.manual_seed(26)
x, y = load_breast_cancer(return_X_y=True)
x, y = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32), torch.tensor(y, dtype=torch.float32)
net = nn.Sequential(nn.Linear(30, 50), nn.ReLU(), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=0.6)
for epoch in range(15):
    run = 0.0
    for rows in torch.randperm(450).split(15):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows])[:, 0], y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        run += loss.item() / 30
    with torch.no_grad():
        z = net(x[450:])[:, 0]
    print(f"[{epoch}] {run:.4f} {nn.functional.binary_cross_entropy_with_logits(z, y[450:]).item():.4f} acc={((z > 0) == (y[450:] > 0.5)).float().mean().item():.4f}")
print(f"final acc={((z > 0) == (y[450:] > 0.5)).float().mean().item():.4f}")
