"""Lightning: a module and `Trainer.fit`."""

from __future__ import annotations

import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader

from benchmarks.frames.cells import Cell, arrays
from benchmarks.frames.torch_net import net, optimizer_of, sets_of


class Module(lightning.LightningModule):
    def __init__(self, cell: Cell, steps: int) -> None:
        super().__init__()
        self.cell, self.steps, self.net = cell, steps, net(cell)
        self.loss_of = nn.MSELoss() if cell.loss == "numbers" else nn.CrossEntropyLoss()

    def training_step(self, batch, _):
        loss = self.loss_of(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss_of(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = optimizer_of(self.cell, self.parameters())
        if not self.cell.cosine:
            return optimizer
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, self.steps)
        return [optimizer], [{"scheduler": schedule, "interval": "step"}]


def train(cell: Cell) -> None:
    torch.manual_seed(0)
    sets = sets_of(arrays(cell), cell)
    loader = DataLoader(sets[0], cell.batch, shuffle=True, drop_last=True)
    module = Module(cell, cell.epochs * len(loader))
    if cell.frozen:
        for layer in list(module.net)[:-1]:
            layer.requires_grad_(False)
    trainer = lightning.Trainer(
        max_epochs=cell.epochs, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, num_sanity_val_steps=0,
    )  # fmt: skip
    trainer.fit(module, loader, DataLoader(sets[1], 128))
