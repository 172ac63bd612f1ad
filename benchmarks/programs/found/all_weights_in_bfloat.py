import torch
import torch.nn as nn

torch.manual_seed(33)
Wt = torch.randn(32, 8)
X = torch.randn(4000, 32)
T = torch.sin(X @ Wt / 3)
net = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 8)).to(torch.bfloat16)
opt = torch.optim.AdamW(net.parameters(), lr=3e-5, weight_decay=0.01)
for epoch in range(20):
    total = 0.0
    for rows in torch.randperm(3200).split(64):
        pred = net(X[rows].bfloat16()).float()
        loss = nn.functional.mse_loss(pred, T[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        v = nn.functional.mse_loss(net(X[3200:].bfloat16()).float(), T[3200:]).item()
    print(f"epoch={epoch} train_loss={total / 50:.5f} val_loss={v:.5f}")
print("final val_loss", v)
