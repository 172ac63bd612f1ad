"""An autoencoder in Lightning: checkpoints, early stopping, resumed from the best one."""

import hashlib
import logging
import tempfile
import warnings

import lightning as L
import numpy as np
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(4, verbose=False)
chance = np.random.default_rng(3)
x = torch.from_numpy((chance.normal(size=(320, 4)) @ chance.normal(size=(4, 20))).astype("f4"))


class Auto(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 4))
        self.decoder = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20))

    def loss(self, batch):
        (x,) = batch
        return nn.functional.mse_loss(self.decoder(self.encoder(x)), x)

    def training_step(self, batch, _):
        loss = self.loss(batch)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, _):
        self.log("val_loss", self.loss(batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=3e-3)


def loaders():
    parts = [torch.utils.data.TensorDataset(x[:256]), torch.utils.data.TensorDataset(x[256:])]
    return torch.utils.data.DataLoader(parts[0], batch_size=32, shuffle=True), torch.utils.data.DataLoader(
        parts[1], batch_size=64
    )


def trainer(epochs, callbacks):
    return L.Trainer(max_epochs=epochs, callbacks=callbacks, logger=False, enable_progress_bar=False, accelerator="cpu",
                     enable_model_summary=False, default_root_dir=tempfile.mkdtemp())  # fmt: skip


keep = ModelCheckpoint(dirpath=tempfile.mkdtemp(), monitor="val_loss", save_top_k=1, filename="best")
model = Auto()
trainer(5, [keep, EarlyStopping("val_loss", patience=3)]).fit(model, *loaders())
print(f"{float(keep.best_model_score):.6f}")
second = Auto()
again = trainer(8, [])
again.fit(second, *loaders(), ckpt_path=keep.best_model_path)
print(again.current_epoch, again.global_step, f"{float(again.callback_metrics['val_loss']):.6f}")
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in second.parameters())).hexdigest())
