import torch
import torch.nn as nn
from sklearn.datasets import fetch_california_housing  # noqa: F401  (not downloaded here)

torch.manual_seed(37)
x = torch.randn(2000, 8)
y = torch.sin(x[:, :1]) + x[:, 1:2] * x[:, 2:3] * 0.5
model = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.5)
for epoch in range(20):
    for idx in torch.randperm(1600).split(64):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        scheduler.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x[1600:]), y[1600:]).item()
    print(f"epoch {epoch + 1}/20  lr {optimizer.param_groups[0]['lr']:.2e}  loss {loss.item():.4f}  val_loss {val:.4f}")
print("final", val)
