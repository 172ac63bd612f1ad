"""fully_shard on gloo by torchrun: blocks and root are sharded over two processes, gradients are clipped."""

import json

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(10)
    x = torch.randn(1024, 8)
    y = torch.tanh(x @ torch.randn(8, 3)) + 0.05 * torch.randn(1024, 3)
    model = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 3))
    mesh = init_device_mesh("cpu", (world,))
    for layer in model:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    truth = {"loss": [], "lr": [], "grad_norm": []}
    for _ in range(12):
        for chosen in torch.randperm(1024).split(64):
            mine = chosen[rank::world]
            loss = nn.functional.mse_loss(model(x[mine]), y[mine])
            optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            truth["loss"].append(loss.item())
            truth["lr"].append(optimizer.param_groups[0]["lr"])
            truth["grad_norm"].append(norm.full_tensor().item())
    json.dump(truth, open(f"truth{rank}.json", "w"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
