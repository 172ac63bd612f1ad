"""Two processes whose loss becomes NaN, and that leave the loop when `traindx.watch` says so.

Arguments: where each records (`{rank}` is its number), and which ranks do ("01" or "0").
"""

import contextlib
import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import traindx

STEPS = 400
place, watched = sys.argv[1:]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(27)
x = torch.randn(128, 6)
y = x[:, :3].argmax(1)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
watch = traindx.watch(model, optimizer, out=place.format(rank=rank), stop=True, check_every=10)
step = 0
with watch if str(rank) in watched else contextlib.nullcontext():
    for step in range(STEPS):
        loss = nn.functional.cross_entropy(model(x[rank::2]), y[rank::2]) * (
            float("nan") if step > 60 else 1.0
        )
        optimizer.zero_grad()
        loss.backward()
        watch.log(loss=loss)
        optimizer.step()
        if watch.why_stop:
            break
dist.barrier()
with open(f"left{rank}.json", "w") as file:
    json.dump({"step": step, "why": watch.why_stop}, file)
dist.destroy_process_group()
