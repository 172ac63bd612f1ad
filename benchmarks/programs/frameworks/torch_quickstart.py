"""A first classifier in plain PyTorch: a loop for training, one for testing, saved and loaded."""

import hashlib
import tempfile

import numpy as np
import torch
from torch import nn

torch.manual_seed(6)
chance = np.random.default_rng(4)
x = torch.from_numpy(chance.normal(size=(640, 1, 8, 8)).astype("f4"))
y = torch.from_numpy((x.numpy().reshape(640, -1) @ chance.normal(size=(64, 10))).argmax(1))
sets = [torch.utils.data.TensorDataset(x[part], y[part]) for part in (slice(0, 512), slice(512, None))]
train, test = (torch.utils.data.DataLoader(one, batch_size=64) for one in sets)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.flatten = nn.Flatten()
        self.stack = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, x):
        return self.stack(self.flatten(x))


model, loss_fn = Network(), nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5e-2)
for epoch in range(5):
    model.train()
    for number, (xs, ys) in enumerate(train):
        loss = loss_fn(model(xs), ys)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if number % 4 == 0:
            print(f"loss: {loss.item():>7f}  [{number * 64:>5d}/512]")
    model.eval()
    total, right = 0.0, 0
    with torch.no_grad():
        for xs, ys in test:
            found = model(xs)
            total, right = total + loss_fn(found, ys).item(), right + (found.argmax(1) == ys).sum().item()
    print(f"epoch {epoch + 1}: accuracy {100 * right / 128:>0.1f}%, avg loss {total / 2:>8f}")
file = tempfile.mktemp(suffix=".pth")
torch.save(model.state_dict(), file)
again = Network()
again.load_state_dict(torch.load(file, weights_only=True))
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in again.parameters())).hexdigest())
