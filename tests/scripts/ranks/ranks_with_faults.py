"""Data-parallel training on gloo by torchrun, and what goes wrong in it: the first argument says what."""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, TensorDataset

WHAT, STEPS = sys.argv[1], 60


def exchanged(model, divide):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        if divide:
            parameter.grad /= dist.get_world_size()


def changed(model, world):
    if WHAT == "divided twice":
        for parameter in model.parameters():
            parameter.grad /= world
    if WHAT == "clipped":
        nn.utils.clip_grad_norm_(model.parameters(), 0.05)


def summing(state, bucket):
    """A communication hook that does not divide."""
    return dist.all_reduce(bucket.buffer(), async_op=True).get_future().then(lambda done: done.value()[0])


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(31)
    x = torch.randn(60 * 8 * world, 12)
    y = (x @ torch.randn(12, 4)).argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data, seed=1)
    if WHAT == "same data":
        sampler = RandomSampler(data, generator=torch.Generator().manual_seed(4))
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    plain = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    by_hand = WHAT in ("by hand", "summed", "summed with Adam", "loss divided")
    wrapped = DistributedDataParallel(plain)
    if WHAT == "summing hook":
        wrapped.register_comm_hook(None, summing)
    model = plain if WHAT == "not wrapped" or by_hand else wrapped
    optimizer = torch.optim.SGD(plain.parameters(), lr=0.05)
    if WHAT == "summed with Adam":
        optimizer = torch.optim.Adam(plain.parameters(), lr=0.002)
    slow = torch.ones(700, 700)
    for step, (inputs, targets) in zip(range(STEPS), loader, strict=False):
        if WHAT == "straggler" and rank == 1:
            for _ in range(4):
                slow = (slow @ slow).clamp(max=1.0)
        if WHAT == "dies" and rank == 1 and step == 30:
            os._exit(9)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        if WHAT == "loss divided":
            loss = loss / world
        optimizer.zero_grad()
        loss.backward()
        if by_hand:
            exchanged(plain, divide=WHAT == "by hand")
        changed(plain, world)
        if WHAT == "raises" and rank == 1 and step == 30:
            raise RuntimeError("of this rank alone")
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
