import math

import torch
import torch.nn as nn

torch.manual_seed(53)


def task(n, shift):
    x = torch.rand(n, 6) * 2 - 1
    y = torch.sin(3 * x[:, 0] + shift) + x[:, 1] * x[:, 2] - shift * x[:, 3]
    return x, y[:, None]


class LoRALinear(nn.Module):
    def __init__(self, base, rank=4, alpha=8.0):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(rank, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.T @ self.B.T)


def train_model(model, x, y, xv, yv, lr, epochs, tag):
    trainable = [p for p in model.parameters() if p.requires_grad]
    print(tag, sum(p.numel() for p in trainable), "trainable of", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(trainable, lr=lr)
    for epoch in range(epochs):
        losses = []
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.mse_loss(model(x[idx]), y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            val = nn.functional.mse_loss(model(xv), yv).item()
        if epoch % 4 == 3:
            print(f"{tag} epoch {epoch + 1} train {sum(losses) / len(losses):.4f} val {val:.4f}")
    return val


model = nn.Sequential(nn.Linear(6, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
train_model(model, *task(1500, 0.0), *task(300, 0.0), lr=3e-3, epochs=12, tag="pretraining")
for i in (0, 2, 4):
    model[i] = LoRALinear(model[i])
val = train_model(model, *task(1000, 0.7), *task(300, 0.7), lr=1e-2, epochs=20, tag="adapting")
print(f"final val mse: {val:.4f}")
