"""DDP on gloo by torchrun: DistributedSampler, accumulation with no_sync, the first rank prints and validates."""

import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(9)
    x = torch.randn(1400, 10)
    y = x[:, :4].argmax(1)
    data = TensorDataset(x[:1200], y[:1200])
    sampler = DistributedSampler(data, seed=9)
    loader = DataLoader(data, batch_size=20, sampler=sampler)
    plain = nn.Sequential(nn.Linear(10, 40), nn.ReLU(), nn.Linear(40, 4))
    model = DistributedDataParallel(plain)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    truth = {"loss": [], "lr": [], "val_loss": []}
    for epoch in range(6):
        sampler.set_epoch(epoch)
        model.train()
        pair = []
        for index, (inputs, targets) in enumerate(loader):
            if index % 2 == 0:
                with model.no_sync():
                    loss = nn.functional.cross_entropy(model(inputs), targets) / 2
                    loss.backward()
                pair = [loss.item() * 2]
                continue
            loss = nn.functional.cross_entropy(model(inputs), targets) / 2
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            truth["loss"].append((pair[0] + loss.item() * 2) / 2)
            truth["lr"].append(0.2)
        if rank == 0:
            plain.eval()
            with torch.no_grad():
                truth["val_loss"].append(nn.functional.cross_entropy(plain(x[1200:]), y[1200:]).item())
            print(f"epoch {epoch} val_loss {truth['val_loss'][-1]:.4f}", flush=True)
        dist.barrier()
    json.dump(truth, open(f"truth{rank}.json", "w"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
