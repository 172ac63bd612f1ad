"""DistributedDataParallel over gloo, started by torch.multiprocessing.spawn."""

import json
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def train(rank, world):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    dist.init_process_group(
        "gloo", init_method="file://" + os.path.abspath("meeting"), rank=rank, world_size=world
    )
    torch.manual_seed(28)
    x = torch.randn(64, 5)
    model = DistributedDataParallel(torch.nn.Linear(5, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    losses = []
    for step in range(20):
        part = x[rank::world]
        loss = torch.nn.functional.mse_loss(model(part), part.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    torch.save(model.module.state_dict(), f"weights{rank}.pt")
    with open(f"truth{rank}.json", "w") as file:
        json.dump(
            {"loss": losses, "lr": [0.02] * 20, "seen": sorted(n for n in os.environ if "TRAINDX" in n)},
            file,
        )
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(2,), nprocs=2)
