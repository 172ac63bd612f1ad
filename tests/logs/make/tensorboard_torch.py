"""Train with plain torch and its SummaryWriter: a run that was killed and resumed, with scalars,
a chart of add_scalars, hyperparameters, texts, histograms, NaN, and a writer that wrote nothing.

pip install torch tensorboard; python tests/logs/make/tensorboard_torch.py
"""

from __future__ import annotations

import json
import math

import torch
from net import data, net
from places import fresh, oracle
from tb_oracle import found_below
from torch.nn.functional import cross_entropy
from torch.utils.tensorboard import SummaryWriter

folder = fresh("tensorboard_torch")
inputs, labels = data()
held, held_labels = data(seed=1)
model = net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
saved = {}
for part, (first, last) in enumerate(
    ((0, 220), (200, 320))
):  # killed at 220, resumed from the checkpoint at 200
    writer = SummaryWriter(str(folder), filename_suffix=f".{part}")
    if part:
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    else:
        writer.add_text(
            "args", json.dumps({"learning_rate": 0.1, "batch_size": 32, "optimizer": "sgd", "seed": 0})
        )
    for step in range(first, last):
        rows = torch.arange(step * 32, step * 32 + 32) % len(inputs)
        loss = cross_entropy(model(inputs[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.get_total_norm([p.grad for p in model.parameters()])
        optimizer.step()
        writer.add_scalar("train/loss", loss.item(), step)
        writer.add_scalar("train/grad_norm", norm.item(), step)
        writer.add_scalar("lr", 0.1, step)
        if step % 20 == 0:
            with torch.no_grad():
                output = model(held)
            writer.add_scalar("val/loss", cross_entropy(output, held_labels).item(), step, new_style=True)
            accuracy = (output.argmax(1) == held_labels).float().mean()
            writer.add_scalar("val/accuracy", accuracy, step, double_precision=True)
            writer.add_scalar("odd", [math.nan, math.inf, -math.inf][step // 20 % 3], step)
            writer.add_histogram("weights/0", model[0].weight, step)
        if step % 100 == 0:
            writer.add_scalars("loss", {"train": loss.item(), "val": step / 100}, step)
            saved = (
                {"model": model.state_dict(), "optimizer": optimizer.state_dict()} if step == 200 else saved
            )
    if part:
        tried = {"lr": 0.1, "momentum": 0.9, "clip": True, "sampler": "cyclic"}
        writer.add_hparams(tried, {"hparam/accuracy": 0.5}, run_name="hp")
    writer.close()
SummaryWriter(str(folder), filename_suffix=".empty").close()
oracle("tensorboard_torch", found_below(folder))
