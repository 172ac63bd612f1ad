"""python -m package_training: relative imports, arguments, a module that trains in main()."""

import json
import sys

import torch

from .model import build


def main(arguments):
    torch.manual_seed(20)
    x = torch.randn(96, 5)
    y = x.prod(1, keepdim=True)
    model = build(int(arguments[0]) if arguments else 16)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, nesterov=True, momentum=0.8)
    losses = []
    for _ in range(30):
        loss = torch.nn.functional.huber_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.save(model.state_dict(), "weights.pt")
    with open("truth.json", "w") as file:
        json.dump({"loss": losses, "lr": [0.02] * 30, "argv": sys.argv[1:], "name": __name__}, file)


if __name__ == "__main__":
    main(sys.argv[1:])
