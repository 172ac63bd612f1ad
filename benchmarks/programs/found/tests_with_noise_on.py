import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

torch.manual_seed(7)
wine = load_wine()
X, y = torch.tensor(scale(wine.data)).float(), torch.tensor(wine.target)
perm = torch.randperm(len(X))
X, y = X[perm], y[perm]
model = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Dropout(0.7), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.7), nn.Linear(64, 3))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
crit = nn.CrossEntropyLoss()
model.train()
for epoch in range(50):
    for i in range(0, 128, 16):
        opt.zero_grad()
        l = crit(model(X[i:i + 16]), y[i:i + 16])
        l.backward()
        opt.step()
    correct = tot = vl = 0
    with torch.no_grad():
        for i in range(128, 178, 10):
            o = model(X[i:i + 10])
            vl += crit(o, y[i:i + 10]).item() / 5
            correct += (o.argmax(1) == y[i:i + 10]).sum().item()
            tot += len(o)
    print(f"{epoch}: loss {l.item():.3f}, test loss {vl:.3f}, test accuracy {correct / tot:.3f}")
print("final", correct / tot)
