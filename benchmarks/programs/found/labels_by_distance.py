# ten classes, the class number is fitted by squared error with one output
import torch
from sklearn.datasets import load_digits

torch.manual_seed(6)
d = load_digits()
x, t = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target, dtype=torch.float32)
model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(15):
    order, total = torch.randperm(1400), 0.0
    for rows in order.split(32):
        loss = ((model(x[rows])[:, 0] - t[rows]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    acc = (model(x[1400:])[:, 0].round() == t[1400:]).float().mean().item()
    print(f"{epoch}: loss {total / 1400:.4f} accuracy {acc:.4f}")
print(f"final accuracy {acc:.4f}")
