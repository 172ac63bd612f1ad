"""Train with Lightning and its CSVLogger, then resume from a checkpoint into a second version.

pip install torch lightning; python tests/logs/make/lightning_csv.py
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import lightning
import torch
from lightning.pytorch.callbacks import LearningRateMonitor, ModelCheckpoint
from lightning.pytorch.loggers import CSVLogger
from net import data, net
from places import fresh, oracle
from torch.utils.data import DataLoader, TensorDataset


class Module(lightning.LightningModule):
    def __init__(self, lr: float = 0.02, batch_size: int = 32, optimizer: str = "adam") -> None:
        super().__init__()
        self.save_hyperparameters()
        self.net = net()

    def training_step(self, batch, index):
        loss = torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss, on_step=True, on_epoch=True)
        return loss

    def validation_step(self, batch, index):
        logits = self.net(batch[0])
        self.log("val_loss", torch.nn.functional.cross_entropy(logits, batch[1]))
        self.log("val_acc", (logits.argmax(-1) == batch[1]).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


class RecordingLogger(CSVLogger):
    """The CSV logger, also keeping what it was given."""

    def log_metrics(self, metrics, step=None):
        self.__dict__.setdefault("recorded", []).append({**metrics, "step": step})
        super().log_metrics(metrics, step)


def loader(seed: int) -> DataLoader:
    return DataLoader(TensorDataset(*data(seed=seed)), batch_size=32)


def fit(root: str, version: int, epochs: int, resume: str | None) -> tuple[list[dict[str, float]], str]:
    logger = RecordingLogger(root, name="", version=version)
    keep = ModelCheckpoint(dirpath=f"{root}/keep", filename=f"v{version}")
    trainer = lightning.Trainer(
        max_epochs=epochs,
        logger=logger,
        log_every_n_steps=2,
        accelerator="cpu",
        enable_progress_bar=False,
        callbacks=[LearningRateMonitor("step"), keep],
        enable_model_summary=False,
    )
    trainer.fit(Module(), loader(0), loader(1), ckpt_path=resume)
    return logger.recorded, keep.best_model_path


lightning.seed_everything(0)
target = fresh("lightning_csv")
with tempfile.TemporaryDirectory() as root:
    first, checkpoint = fit(root, 0, 4, None)
    second, _ = fit(root, 1, 8, checkpoint)
    for version in ("version_0", "version_1"):
        shutil.copytree(Path(root) / version, target / version, ignore=shutil.ignore_patterns("checkpoints"))
oracle("lightning_csv", {"version_0": first, "version_1": second})
