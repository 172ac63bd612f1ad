"""Accelerate: prepared objects, accumulation by its context, clipping through it; also for `accelerate launch`."""

import json

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    set_seed(3)
    x = torch.randn(1200, 10)
    y = (x @ torch.randn(10, 3)).argmax(1)
    train = DataLoader(TensorDataset(x[:960], y[:960]), batch_size=16, shuffle=True)
    valid = DataLoader(TensorDataset(x[960:], y[960:]), batch_size=60)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=150)
    model, optimizer, train, valid, scheduler = accelerator.prepare(
        model, optimizer, train, valid, scheduler
    )
    criterion = nn.CrossEntropyLoss()
    truth = {"loss": [], "lr": [], "val_loss": [], "world": accelerator.num_processes}
    micro = []
    for epoch in range(5):
        model.train()
        for inputs, targets in train:
            with accelerator.accumulate(model):
                loss = criterion(model(inputs), targets)
                micro.append(loss.item())
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 5.0)
                    truth["loss"].append(sum(micro) / len(micro))
                    truth["lr"].append(optimizer.param_groups[0]["lr"])
                    micro = []
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            losses = [criterion(model(inputs), targets).item() for inputs, targets in valid]
        truth["val_loss"].append(sum(losses) / len(losses))
        accelerator.print(f"epoch {epoch} val loss {truth['val_loss'][-1]:.4f}")
    json.dump(truth, open(f"truth{accelerator.process_index}.json", "w"))


if __name__ == "__main__":
    main()
