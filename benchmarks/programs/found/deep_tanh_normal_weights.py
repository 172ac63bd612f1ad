import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(90)
dig = load_digits()
data = torch.from_numpy(dig.data).float() / 16
target = torch.from_numpy(dig.target)
layers, width = [], 64
for _ in range(6):
    layers += [nn.Linear(width, 100), nn.Tanh()]
    width = 100
model = nn.Sequential(*layers, nn.Linear(100, 10))
for m in model.modules():
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(12):
    total = 0
    for idx in torch.randperm(1400).split(64):
        out = model(data[idx])
        loss = nn.functional.cross_entropy(out, target[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    with torch.no_grad():
        out = model(data[1400:])
    print(f"Epoch {epoch}: train {total / 22:.3f} val {nn.functional.cross_entropy(out, target[1400:]).item():.3f} "
          f"acc {(out.argmax(1) == target[1400:]).float().mean().item():.3f}")
print("final", (out.argmax(1) == target[1400:]).float().mean().item())
