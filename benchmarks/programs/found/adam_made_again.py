"""Training in rounds; between rounds the weights go through a file."""
import os
import tempfile
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(14)
digits = load_digits()
X = torch.tensor(digits.data, dtype=torch.float32) / 16
Y = torch.tensor(digits.target)
path = os.path.join(tempfile.mkdtemp(), "last.pt")


def build():
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, betas=(0.9, 0.9999))
    return model, optimizer


def evaluate(model):
    with torch.no_grad():
        return (model(X[1400:]).argmax(1) == Y[1400:]).float().mean().item()


step = 0
for start in range(4):
    model, optimizer = build()
    if os.path.exists(path):
        ckpt = torch.load(path)
        model.load_state_dict(ckpt["model"])
        step = ckpt["step"]
    for epoch in range(3):
        for rows in torch.randperm(1400).split(32):
            loss = nn.functional.cross_entropy(model(X[rows]), Y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            step += 1
            if step % 20 == 0:
                print(f"step {step} loss {loss.item():.4f}")
        print(f"step {step} val_acc {evaluate(model):.4f}")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, path)
print("final", evaluate(model))
