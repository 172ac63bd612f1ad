"""Tensor parallel on gloo by torchrun: a layer by columns, the next by rows; each process holds a half of both."""

import json

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


def main():
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    torch.manual_seed(12)
    x = torch.randn(512, 10)
    y = x[:, :3].argmax(1)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    truth = {"loss": [], "grad_norm": []}
    for _ in range(5):
        for rows in torch.randperm(512).split(64):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            whole = [
                p.grad.full_tensor() if hasattr(p.grad, "full_tensor") else p.grad
                for p in model.parameters()
            ]
            truth["grad_norm"].append(
                torch.linalg.vector_norm(torch.stack([g.norm() for g in whole])).item()
            )
            optimizer.step()
            truth["loss"].append(loss.item())
    json.dump(truth, open(f"truth{dist.get_rank()}.json", "w"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
