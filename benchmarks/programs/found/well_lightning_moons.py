import lightning as L
import torch
from sklearn.datasets import make_moons
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Moons(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def step(self, batch, name):
        x, y = batch
        out = self.net(x).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(out, y)
        self.log(f"{name}_loss", loss)
        self.log(f"{name}_acc", ((out > 0) == (y > 0.5)).float().mean())
        return loss

    def training_step(self, batch, _):
        return self.step(batch, "train")

    def validation_step(self, batch, _):
        self.step(batch, "val")

    def configure_optimizers(self):
        opt = torch.optim.AdamW(self.parameters(), lr=5e-3, weight_decay=0.01)
        return [opt], [torch.optim.lr_scheduler.CosineAnnealingLR(opt, 25)]


L.seed_everything(8)
X, y = make_moons(1500, noise=0.15, random_state=8)
data = TensorDataset(torch.tensor(X).float(), torch.tensor(y).float())
a, b = torch.utils.data.random_split(data, [1200, 300])
trainer = L.Trainer(max_epochs=25, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False)
trainer.fit(Moons(), DataLoader(a, 32, shuffle=True), DataLoader(b, 300))
print("final acc", trainer.callback_metrics["val_acc"].item())
