"""Train with MMEngine's Runner and keep vis_data/scalars.json.

pip install torch mmengine; python tests/logs/make/mmengine_run.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from mmengine.evaluator import BaseMetric, Evaluator
from mmengine.model import BaseModel
from mmengine.runner import Runner
from net import data, net
from places import fresh, oracle
from torch.utils.data import DataLoader, TensorDataset

logged: list[dict[str, float]] = []


class Model(BaseModel):
    def __init__(self) -> None:
        super().__init__()
        self.net = net()

    def forward(self, x, y, mode="tensor"):
        logits = self.net(x)
        if mode == "loss":
            return {"loss": torch.nn.functional.cross_entropy(logits, y)}
        return logits.argmax(-1), y


class Accuracy(BaseMetric):
    default_prefix = "toy"

    def process(self, data_batch, data_samples):
        guess, truth = data_samples
        self.results.append({"right": int((guess == truth).sum()), "count": len(truth)})

    def compute_metrics(self, results):
        return {"accuracy": sum(r["right"] for r in results) / sum(r["count"] for r in results)}


def loader(seed: int) -> DataLoader:
    return DataLoader(TensorDataset(*data(seed=seed)), batch_size=16, shuffle=seed == 0)


def run(folder: Path, name: str, by_epoch: bool) -> None:
    loop = (
        {"by_epoch": True, "max_epochs": 4}
        if by_epoch
        else {"by_epoch": False, "max_iters": 60, "val_interval": 20}
    )
    with tempfile.TemporaryDirectory() as work:
        runner = Runner(
            Model(),
            work,
            train_dataloader=loader(0),
            val_dataloader=loader(1),
            train_cfg=loop,
            val_cfg={},
            val_evaluator=Evaluator([Accuracy()]),
            optim_wrapper={"optimizer": {"type": "SGD", "lr": 0.1, "momentum": 0.9}},
            default_hooks={"logger": {"type": "LoggerHook", "interval": 5, "log_metric_by_epoch": by_epoch}},
            log_processor={"by_epoch": by_epoch, "window_size": 5},
            experiment_name=name,
            randomness={"seed": 0},
        )
        seen = []
        plain = runner.visualizer.add_scalars

        def heard(values, step=0, **more):
            seen.append(
                {
                    **{k: float(v) for k, v in values.items()},
                    "given_step": int(step),
                    "iter_done": runner.iter,
                }
            )
            return plain(values, step=step, **more)

        runner.visualizer.add_scalars = heard
        runner.train()
        (log,) = Path(work).rglob("scalars.json")
        (folder / f"{name}.json").write_bytes(log.read_bytes())
    oracle(f"mmengine_{name}", seen)


target = fresh("mmengine")
run(target, "by_epoch", True)
run(target, "by_iter", False)
