import json

import torch
from torch.nn import functional as F


def init(options, generator=None):
    h, k = options["hidden"], options["classes"]
    shapes = [(h, 2), (h,), (k, h), (k,)]
    return [torch.nn.Parameter(torch.randn(s) * (0.5 if len(s) == 2 else 0.0)) for s in shapes]


def predict(params, x):
    w1, b1, w2, b2 = params
    return F.linear(torch.relu(F.linear(x, w1, b1)), w2, b2)


def sample(n, options):
    y = torch.randint(0, options["classes"], (n,))
    angle = 2 * torch.pi * y / options["classes"]
    centers = 4 * torch.stack([angle.cos(), angle.sin()], 1)
    return centers + options["spread"] * torch.randn(n, 2), y


def epoch_of(params, optimizer, x, y, size):
    for rows in torch.randperm(len(x)).split(size):
        loss = F.cross_entropy(predict(params, x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    torch.manual_seed(33)
    options = json.load(open("options.json"))
    x, y = sample(1200, options)
    vx, vy = sample(600, options)
    params = init(options)
    optimizer = torch.optim.Adam(params, lr=options["lr"])
    for epoch in range(options["epochs"]):
        train_loss = epoch_of(params, optimizer, x, y, options["batch_size"])
        with torch.no_grad():
            out = predict(params, vx)
            val_loss, val_acc = F.cross_entropy(out, vy).item(), (out.argmax(1) == vy).float().mean().item()
        print(json.dumps({"epoch": epoch, "train_loss": train_loss, "val_loss": val_loss, "val_acc": val_acc}))
    print("final val_acc", round(val_acc, 4))


main()
