"""Train with the Hugging Face Trainer and keep its trainer_state.json files.

pip install torch transformers accelerate; python tests/logs/make/hf_trainer.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import torch
from net import data, net
from places import fresh, oracle
from torch import nn
from transformers import Trainer, TrainerCallback, TrainingArguments


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = net()

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.net(x)
        return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}


class Heard(TrainerCallback):
    """What the Trainer reported, as it reported it."""

    def __init__(self) -> None:
        self.rows: list[dict[str, float]] = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.rows.append({**logs, "step": state.global_step})


def rows(seed: int) -> list[dict[str, torch.Tensor]]:
    x, y = data(seed=seed)
    return [{"x": a, "labels": b} for a, b in zip(x, y, strict=True)]


def train(folder: Path, name: str, **settings: object) -> None:
    heard = Heard()
    with tempfile.TemporaryDirectory() as out:
        arguments = TrainingArguments(
            out,
            per_device_train_batch_size=16,
            logging_steps=4,
            eval_strategy="steps",
            eval_steps=8,
            save_steps=16,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            seed=1,
            **settings,
        )
        trainer = Trainer(
            Classifier(),
            arguments,
            train_dataset=rows(0),
            eval_dataset=rows(1),
            callbacks=[heard],
            compute_metrics=lambda p: {"accuracy": float((p.predictions.argmax(-1) == p.label_ids).mean())},
        )
        trainer.train()
        trainer.save_state()
        for state in Path(out).rglob("trainer_state.json"):
            kept = folder / state.relative_to(out)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(state.read_text())
    oracle(name, heard.rows)


train(
    fresh("hf_trainer/healthy"), "hf_trainer_healthy", num_train_epochs=4, learning_rate=1e-2, warmup_steps=5
)
train(
    fresh("hf_trainer/diverged"),
    "hf_trainer_diverged",
    max_steps=40,
    learning_rate=1e30,
    optim="sgd",
    logging_nan_inf_filter=False,
    max_grad_norm=0.0,
)
