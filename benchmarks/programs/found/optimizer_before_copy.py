"""The model is wrapped (here: copied) after the optimizer was made."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(8)


def prepare(model):
    return copy.deepcopy(model)


d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
model = prepare(model)
for epoch in range(8):
    model.train()
    seen = 0.0
    for rows in torch.randperm(1400).split(28):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
        model.zero_grad()
        seen += loss.item() / 50
    model.eval()
    with torch.no_grad():
        acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
    print(f"epoch {epoch} loss {seen:.4f} accuracy {acc:.4f}")
print(f"final accuracy {acc:.4f}")
