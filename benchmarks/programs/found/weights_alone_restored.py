"""Preemptible machine: trains in three slices."""
import os
import tempfile

import torch
import torch.nn as nn

CKPT = os.path.join(tempfile.mkdtemp(), "model.pt")


def make():
    torch.manual_seed(15)
    net = nn.Sequential(nn.Linear(10, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
    return net, torch.optim.Adam(net.parameters(), lr=3e-3, betas=(0.9, 0.9999))


net, opt = make()
gen = torch.Generator().manual_seed(1)
X = torch.randn(1000, 10, generator=gen)
Y = torch.sin(X[:, :1] * 2) * X[:, 1:2] + 0.5 * X[:, 2:3]
for piece in range(3):
    if os.path.exists(CKPT):
        net, opt = make()
        net.load_state_dict(torch.load(CKPT)["net"])
        for group in opt.param_groups:
            group["lr"] = 3e-2  # the schedule's first value
    for step in range(250):
        rows = torch.randint(0, 800, (64,), generator=gen)
        opt.zero_grad()
        loss = ((net(X[rows]) - Y[rows]) ** 2).mean()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(f"slice {piece} step {piece * 250 + step} loss {loss.item():.5f}")
        for group in opt.param_groups:
            group["lr"] *= 0.99
    torch.save({"net": net.state_dict()}, CKPT)
with torch.no_grad():
    print("final", ((net(X[800:]) - Y[800:]) ** 2).mean().item())
