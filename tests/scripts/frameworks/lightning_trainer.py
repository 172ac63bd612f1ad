"""Lightning: a module with its own steps, a logger of CSV files, a schedule, clipping and validation."""

import json
import logging
import warnings

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU(), nn.Linear(48, 4)
        )
        self.truth = {"loss": [], "lr": [], "val_loss": []}
        self.batches = []

    def training_step(self, batch, _):
        inputs, targets = batch
        loss = nn.functional.cross_entropy(self.net(inputs), targets)
        self.log("train_loss", loss)
        self.truth["loss"].append(loss.item())
        self.truth["lr"].append(self.optimizers().param_groups[0]["lr"])
        return loss

    def validation_step(self, batch, _):
        inputs, targets = batch
        loss = nn.functional.cross_entropy(self.net(inputs), targets)
        self.log("val_loss", loss, prog_bar=True)
        self.batches.append(loss.item())

    def on_validation_epoch_end(self):
        self.truth["val_loss"].append(sum(self.batches) / len(self.batches))
        self.batches = []

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=4e-3)
        return [optimizer], [torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)]


if __name__ == "__main__":
    lightning.seed_everything(4, verbose=False)
    x = torch.randn(1300, 12)
    y = (x[:, :4] + 0.5 * x[:, 4:8]).argmax(1)
    train = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=25, shuffle=True)
    valid = DataLoader(TensorDataset(x[1000:], y[1000:]), batch_size=100)
    model = Classifier()
    trainer = lightning.Trainer(
        max_epochs=6,
        accelerator="cpu",
        logger=CSVLogger("logs"),
        gradient_clip_val=1.0,
        enable_progress_bar=False,
        enable_model_summary=False,
        enable_checkpointing=False,
        num_sanity_val_steps=0,
        log_every_n_steps=1,
    )
    trainer.fit(model, train, valid)
    json.dump(model.truth, open("truth.json", "w"))
