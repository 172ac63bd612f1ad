"""Hugging Face: `transformers.Trainer` on a model of one's own."""

from __future__ import annotations

import tempfile

import torch
import transformers
from torch import nn

from benchmarks.frames.cells import Cell, arrays
from benchmarks.frames.torch_net import net, optimizer_of, sets_of


class Named(torch.utils.data.Dataset):
    """Samples by the names of the model's arguments."""

    def __init__(self, samples: torch.utils.data.TensorDataset) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, place: int) -> dict[str, torch.Tensor]:
        x, y = self.samples[place]
        return {"x": x, "labels": y}


class Model(nn.Module):
    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.net = net(cell)
        self.loss_of = nn.MSELoss() if cell.loss == "numbers" else nn.CrossEntropyLoss()

    def forward(self, x, labels=None):
        logits = self.net(x)
        return {"loss": self.loss_of(logits, labels), "logits": logits}


def train(cell: Cell) -> None:
    torch.manual_seed(0)
    train_set, held = (Named(samples) for samples in sets_of(arrays(cell), cell))
    model = Model(cell)
    if cell.frozen:
        for layer in list(model.net)[:-1]:
            layer.requires_grad_(False)
    optimizer = optimizer_of(cell, model.parameters())
    steps = cell.epochs * (len(train_set) // cell.batch)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps) if cell.cosine else None
    constant = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    with tempfile.TemporaryDirectory() as folder:
        given = transformers.TrainingArguments(
            folder, num_train_epochs=cell.epochs, per_device_train_batch_size=cell.batch, eval_strategy="epoch",
            per_device_eval_batch_size=128, save_strategy="no", report_to=[], disable_tqdm=True, max_grad_norm=0.0,
            dataloader_drop_last=True, use_cpu=True, logging_steps=10,
        )  # fmt: skip
        trainer = transformers.Trainer(
            model,
            given,
            train_dataset=train_set,
            eval_dataset=held,
            optimizers=(optimizer, schedule or constant),
        )
        trainer.train()
