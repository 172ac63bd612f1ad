import torch
import torch.nn as nn

torch.manual_seed(61)
x = torch.randn(1600, 20)
y = (x @ torch.randn(20, 6) + 0.3 * torch.randn(1600, 6) > 1.5).float()
model = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.GELU(), nn.Dropout(0.1), nn.Linear(64, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(20):
    model.train()
    for b in torch.randperm(1200).split(40):
        optimizer.zero_grad()
        loss = loss_fn(model(x[b]), y[b])
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x[1200:])
        pred = (out > 0).float()
        f1 = (2 * (pred * y[1200:]).sum() / (pred.sum() + y[1200:].sum())).item()
        print(f"epoch {epoch:2d} train_loss {loss.item():.4f} val_loss {loss_fn(out, y[1200:]).item():.4f} val_f1 {f1:.4f}")
print("final", f1)
