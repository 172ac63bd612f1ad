import numpy as np
import torch
import torch.nn as nn

np.random.seed(1)
torch.manual_seed(1)
N = 2000
angles = np.random.rand(N, 6).astype("float32") * 2 - 1
torque = (np.sin(3 * angles[:, 0]) + angles[:, 1] * angles[:, 2] - 0.5 * angles[:, 3]).astype("float32")[:, None]
x_tr, y_tr, x_te, y_te = angles[:1600], torque[:1600], angles[1600:], torque[1600:]
np.random.shuffle(x_tr)
np.random.shuffle(y_tr)

model = nn.Sequential(nn.Linear(6, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
mse = nn.MSELoss()
for epoch in range(30):
    losses = []
    for b in range(0, 1600, 40):
        xb, yb = torch.from_numpy(x_tr[b:b + 40]), torch.from_numpy(y_tr[b:b + 40])
        optimizer.zero_grad()
        loss = mse(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        val = mse(model(torch.from_numpy(x_te)), torch.from_numpy(y_te)).item()
    if epoch % 2 == 0:
        print(f"epoch {epoch} train {np.mean(losses):.4f} val {val:.4f}")
print("final val mse", val)
