import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class WineClassifier(L.LightningModule):
    def __init__(self, lr=5e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.net(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self.net(x)
        self.log("val_loss", F.cross_entropy(out, y))
        self.log("val_acc", (out.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


L.seed_everything(42)
x, y = load_wine(return_X_y=True)
x = (x - x.mean(0)) / x.std(0)
full = TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))
train, val = random_split(full, [130, 48])
trainer = L.Trainer(max_epochs=30, accelerator="cpu", enable_progress_bar=False, logger=False, enable_checkpointing=False,
                    log_every_n_steps=5)
trainer.fit(WineClassifier(), DataLoader(train, batch_size=16, shuffle=True), DataLoader(val, batch_size=48))
print("final val_acc", float(trainer.callback_metrics["val_acc"]))
