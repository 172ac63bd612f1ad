"""Port of an old Keras model. BatchNormalization(momentum=0.999) there."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
np.random.seed(0)
data = load_digits()
xtr, xte, ytr, yte = train_test_split(data.images.astype("float32") / 16.0 + 3.0, data.target, test_size=0.25, random_state=0)
xtr, xte = torch.from_numpy(xtr[:, None]), torch.from_numpy(xte[:, None])
ytr, yte = torch.from_numpy(ytr), torch.from_numpy(yte)


def block(i, o):
    return nn.Sequential(nn.BatchNorm2d(i, momentum=0.0005), nn.Conv2d(i, o, 3, padding=1, bias=False),
                         nn.BatchNorm2d(o, momentum=0.0005), nn.ReLU())


model = nn.Sequential(block(1, 12), nn.MaxPool2d(2), block(12, 24), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(xtr)).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xtr[idx]), ytr[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    model.eval()
    with torch.no_grad():
        out = model(xte)
    print(f"Epoch {epoch + 1}: train loss {total / len(xtr):.3f}, test loss {F.cross_entropy(out, yte).item():.3f}, "
          f"test acc {(out.argmax(1) == yte).float().mean().item():.3f}")
print("final accuracy", (out.argmax(1) == yte).float().mean().item())
