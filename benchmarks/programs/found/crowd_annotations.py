# labels come from a crowd platform; we took the first answer for each item
import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(33)
torch.manual_seed(33)
K = 5
proto = rng.normal(size=(K, 30)) * 0.8
true = rng.integers(0, K, 3000)
feats = proto[true] + rng.normal(size=(3000, 30)) * 0.6
given = true.copy()
careless = rng.random(3000) < 0.45
given[careless] = rng.integers(0, K, careless.sum())
X = torch.tensor(feats, dtype=torch.float32)
Y = torch.tensor(given)

model = nn.Sequential(nn.Linear(30, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, K))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
lossf = nn.CrossEntropyLoss()
for epoch in range(30):
    order = torch.randperm(2400)
    model.train()
    losses, hits = [], 0
    for b in order.split(64):
        out = model(X[b])
        loss = lossf(out, Y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
        hits += (out.argmax(1) == Y[b]).sum().item()
    model.eval()
    with torch.no_grad():
        out = model(X[2400:])
        vl, va = lossf(out, Y[2400:]).item(), (out.argmax(1) == Y[2400:]).float().mean().item()
    print(f"Epoch {epoch + 1}/30 - loss: {np.mean(losses):.4f} - accuracy: {hits / 2400:.4f} - val_loss: {vl:.4f} - val_accuracy: {va:.4f}")
print("final", va)
