"""Log real training losses with Sacred's FileStorageObserver.

pip install torch sacred "setuptools<80"; python tests/logs/make/sacred_run.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import torch
from net import data, net
from places import fresh, oracle
from sacred import SETTINGS, Experiment
from sacred.observers import FileStorageObserver

SETTINGS["CAPTURE_MODE"] = "no"
experiment = Experiment("blobs", save_git_info=False)
logged: dict[str, list[tuple[int, float]]] = {"training.loss": [], "validation.accuracy": []}


@experiment.config
def config() -> None:
    learning_rate = 0.3  # noqa: F841
    batch_size = 256  # noqa: F841
    optimizer = {"name": "sgd", "momentum": 0.9}  # noqa: F841


@experiment.main
def main(_run, learning_rate, optimizer):
    x, y = data(seed=0)
    held = data(seed=1)
    model = net()
    sgd = torch.optim.SGD(model.parameters(), lr=learning_rate, momentum=optimizer["momentum"])
    for step in range(25):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        value = float("nan") if step == 24 else loss.item()  # a last value as a diverged run would log it
        _run.log_scalar("training.loss", value, step)
        logged["training.loss"].append((step, value))
        if step % 5 == 0:
            accuracy = (
                (model(held[0]).argmax(-1) == held[1]).float().mean().numpy()
            )  # a numpy scalar, as many log
            _run.log_scalar("validation.accuracy", accuracy[()], step)
            logged["validation.accuracy"].append((step, float(accuracy)))


target = fresh("sacred/1")
with tempfile.TemporaryDirectory() as work:
    experiment.observers.append(FileStorageObserver(work))
    experiment.run()
    for name in ("metrics.json", "run.json", "config.json"):
        (target / name).write_text((Path(work) / "1" / name).read_text())
state = json.loads((target / "run.json").read_text())
for private in ("host", "command", "meta"):
    state.pop(private, None)
state["experiment"] = {"name": state["experiment"]["name"]}
(target / "run.json").write_text(json.dumps(state, indent=2))
oracle("sacred", logged)
