"""Parameters spread over two processes (FSDP2 on gloo), started by torchrun; next to it, the same step in one process."""

import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

clips = "clip" in sys.argv
dist.init_process_group("gloo")
rank = dist.get_rank()


def net():
    torch.manual_seed(5)
    return nn.Sequential(nn.Linear(6, 7), nn.ReLU(), nn.Linear(7, 3))


x = torch.randn(32, 6, generator=torch.Generator().manual_seed(1))
y = x[:, :3].argmax(1)
whole, model = net(), net()
fully_shard(model[0])
fully_shard(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
norms, losses = [], []
for step in range(12):
    loss = nn.functional.cross_entropy(model(x[rank::2]), y[rank::2])
    optimizer.zero_grad()
    loss.backward()
    losses.append(loss.item())
    whole.load_state_dict({name: p.full_tensor() for name, p in model.state_dict().items()})
    parts = torch.autograd.grad(nn.functional.cross_entropy(whole(x), y), list(whole.parameters()))
    norms.append(torch.cat([p.flatten() for p in parts]).norm().item())
    if clips:
        nn.utils.clip_grad_norm_(model.parameters(), 0.2)
    optimizer.step()
with open(f"truth{rank}.json", "w") as file:
    json.dump({"loss": losses, "grad_norm": norms}, file)
dist.destroy_process_group()
