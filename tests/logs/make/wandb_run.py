"""Train with plain torch and log to Weights & Biases offline: train and validation rows, a declared
step metric, nested names, NaN, a histogram, texts, and a second run that declares nothing and fails.

pip install torch wandb; python tests/logs/make/wandb_run.py
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from places import fresh, oracle

SCRIPT = """
import json, math, sys
import torch, wandb
from torch.nn.functional import cross_entropy
from net import data, net
work, plain = sys.argv[1], sys.argv[2] == "plain"
settings = wandb.Settings(mode="offline", x_disable_stats=False, x_stats_sampling_interval=0.2, console="wrap",
                          disable_git=True, x_disable_meta=True, host="host", username="user", silent=True)
run = wandb.init(project="blobs", dir=work, settings=settings,
                 config={"learning_rate": 0.1, "batch_size": 32, "epochs": 5,
                         "optimizer": {"name": "sgd", "momentum": 0.9}})
if not plain:
    run.define_metric("train/global_step")
    run.define_metric("*", step_metric="train/global_step", step_sync=True)
inputs, labels = data(); held, held_labels = data(seed=1)
model = net(); optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
logged = []
def log(row, **extra):
    logged.append(row); run.log(row | extra)
for step in range(0, 400, 2):
    rows = torch.arange(step * 32, step * 32 + 32) % len(inputs)
    loss = cross_entropy(model(inputs[rows]), labels[rows])
    optimizer.zero_grad(); loss.backward(); optimizer.step()
    value = math.nan if step == 100 else math.inf if step == 102 else loss.item()
    log({"train/loss": value, "train/global_step": step, "nested": {"lr": {"group0": 0.1}}}, ok=True, word="text")
    if step % 40 == 0:
        with torch.no_grad(): output = model(held)
        log({"eval/loss": cross_entropy(output, held_labels).item(), "train/global_step": step,
             "eval/accuracy": (output.argmax(1) == held_labels).float().mean().item()},
            weights=wandb.Histogram(model[0].weight.detach().numpy()))
    if plain and step == 200:
        json.dump(logged, open(work + "/logged.json", "w"))
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
json.dump(logged, open(work + "/logged.json", "w"))
run.finish()
"""


def train(kind: str) -> object:
    """One run in its own process; keeps its record and summary, returns what was logged."""
    with tempfile.TemporaryDirectory() as work:
        subprocess.run(
            [sys.executable, "-c", SCRIPT, work, kind], cwd=Path(__file__).parent, check=kind != "plain"
        )
        (record,) = Path(work).glob("wandb/offline-run-*/run-*.wandb")
        target = folder / kind
        target.mkdir()
        shutil.copy(record, target / "run-made.wandb")
        for summary in record.parent.glob("files/wandb-summary.json"):
            shutil.copy(summary, target)
        return json.loads((Path(work) / "logged.json").read_text())


folder = fresh("wandb")
oracle("wandb", {kind: train(kind) for kind in ("declared", "plain")})
