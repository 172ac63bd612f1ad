"""Trainings that are hard to watch. `python odd.py KIND`: prints the loss of every step, and that it has ended."""

import sys
import threading
from collections.abc import Mapping

import torch
from torch import nn
from training import batch

torch.manual_seed(0)
x, y = batch(0)


class Odd(nn.Linear):
    """Cannot be asked whether it is there."""

    def __len__(self):
        raise TypeError("no length")

    def __bool__(self):
        raise RuntimeError("no truth")

    def __eq__(self, other):
        raise RuntimeError("no equality")

    def __iter__(self):
        raise RuntimeError("no iteration")

    __hash__ = nn.Module.__hash__


class OddAdam(torch.optim.Adam):
    __bool__, __len__, __eq__, __hash__ = Odd.__bool__, Odd.__len__, Odd.__eq__, torch.optim.Adam.__hash__


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 8, sparse=True)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.table(x.abs().mul(10).long()).mean(1))


class OddRate(float):
    def __float__(self):
        raise ValueError("no number")


class OddBatch(Mapping):
    """Its values cannot be had."""

    def __init__(self, batch):
        self.batch = batch

    def __getitem__(self, key):
        return self.batch[key]

    def __iter__(self):
        return iter(self.batch)

    def __len__(self):
        return len(self.batch)

    def values(self):
        raise ValueError("no values")


class Data(torch.utils.data.Dataset):
    """Batches from the 30th on are odd."""

    def __len__(self):
        return 60

    def __getitem__(self, index):
        found = dict(zip("xy", batch(index), strict=True))
        return OddBatch(found) if index >= 30 else found


def train(model, optimizer, steps=60, loud=True, batches=None, at_30=None):
    for step, given in zip(range(steps), [(x, y)] * steps if batches is None else batches, strict=False):
        inputs, targets = (given["x"], given["y"]) if batches is not None else given
        if step == 30 and at_30 is not None:
            at_30()
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if loud:
            print(step, loss.item(), flush=True)


def net():
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)


def no_truth():
    model = Odd(6, 3)
    train(model, OddAdam(model.parameters()))


def sparse():
    model = Sparse()
    train(model, sgd(model))


def scripted():
    model = torch.jit.script(net())
    train(model, sgd(model))


def traced():
    model = torch.jit.trace(net(), x)
    train(model, sgd(model))


def partly_scripted():
    model = nn.Sequential(nn.Linear(6, 6), torch.jit.script(net()), nn.Linear(3, 3))
    train(model, sgd(model))


def two_threads():
    """Each waits for the other at its first and at its 30th step."""
    models = net(), net()
    together = threading.Barrier(2)
    given = [(model, sgd(model), 200, False, None, together.wait) for model in models]
    threads = [threading.Thread(target=lambda own=own: [together.wait(), train(*own)]) for own in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print([p.sum().item() for model in models for p in model.parameters()])


def next_thread():
    """One training, of which each part is another thread's."""
    model = net()
    optimizer = sgd(model)
    for _ in range(3):
        thread = threading.Thread(target=train, args=(model, optimizer, 20))
        thread.start()
        thread.join()


def odd_rate():
    model = net()
    optimizer = sgd(model)
    train(model, optimizer, at_30=lambda: optimizer.param_groups[0].update(lr=OddRate(0.1)))


def odd_batches():
    model = net()
    train(model, sgd(model), batches=torch.utils.data.DataLoader(Data(), batch_size=None))


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("ended")
