import torch
import torch.nn.functional as F
import lightning as L
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class LitDigits(L.LightningModule):
    def __init__(self, lr=1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.backbone = torch.nn.Sequential(
            torch.nn.Linear(64, 24), torch.nn.ReLU(), torch.nn.Linear(24, 12), torch.nn.ReLU())
        self.classifier = torch.nn.Linear(12, 10)

    def forward(self, x):
        return self.classifier(self.backbone(x))

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss, prog_bar=True)
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        out = self(x)
        self.log("val_loss", F.cross_entropy(out, y))
        self.log("val_acc", (out.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.classifier.parameters(), lr=self.hparams.lr)


L.seed_everything(1)
d = load_digits()
x, y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
train = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[1400:], y[1400:]), batch_size=64)
trainer = L.Trainer(max_epochs=10, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
model = LitDigits()
trainer.fit(model, train, val)
print("final acc", trainer.callback_metrics["val_acc"].item())
