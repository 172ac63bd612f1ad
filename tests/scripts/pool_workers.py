"""multiprocessing with spawn before training, and a subprocess: neither is recorded, both work as ever."""

import json
import multiprocessing
import os
import subprocess
import sys

import torch

NAMES = ("TRAINDX_CAPTURE", "PYTHONPATH")


def seen(number):
    return number * number, sorted(name for name in os.environ if name in NAMES), "traindx" in sys.modules


def main():
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        squares = pool.map(seen, range(4))
    child = "import os; print([n for n in ('TRAINDX_CAPTURE', 'PYTHONPATH') if n in os.environ])"
    shown = subprocess.run(
        [sys.executable, "-c", child], capture_output=True, text=True, check=True
    ).stdout.strip()
    torch.manual_seed(22)
    x = torch.randn(64, 3)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(20):
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.save(model.state_dict(), "weights.pt")
    with open("truth.json", "w") as file:
        json.dump({"loss": losses, "lr": [0.1] * 20, "workers": squares, "subprocess": shown}, file)


if __name__ == "__main__":
    main()
