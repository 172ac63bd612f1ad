"""Two optimizers by hand in Lightning (manual optimization)."""

import hashlib
import logging
import tempfile
import warnings

import lightning as L
import torch
from torch import nn

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
L.seed_everything(5, verbose=False)


class Gan(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.maker = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 6))
        self.judge = nn.Sequential(nn.Linear(6, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))

    def training_step(self, batch, _):
        (real,) = batch
        for_maker, for_judge = self.optimizers()
        loss_of, count = nn.functional.binary_cross_entropy_with_logits, len(real)
        made = self.maker(torch.randn(count, 4))
        loss = loss_of(self.judge(made), torch.ones(count, 1))
        for_maker.zero_grad()
        self.manual_backward(loss)
        for_maker.step()
        judged = loss_of(self.judge(real), torch.ones(count, 1)) + loss_of(
            self.judge(made.detach()), torch.zeros(count, 1)
        )
        for_judge.zero_grad()
        self.manual_backward(judged / 2)
        for_judge.step()
        self.log_dict({"g_loss": loss, "d_loss": judged / 2})

    def on_train_epoch_end(self):
        print({name: f"{float(value):.6f}" for name, value in self.trainer.callback_metrics.items()})

    def configure_optimizers(self):
        return [torch.optim.Adam(net.parameters(), lr=1e-3, betas=(0.5, 0.999)) for net in (self.maker, self.judge)]


data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(256, 6) + 2), batch_size=32, shuffle=True)
model = Gan()
trainer = L.Trainer(max_epochs=3, logger=False,
                    enable_progress_bar=False, accelerator="cpu", enable_checkpointing=False,
                    enable_model_summary=False, default_root_dir=tempfile.mkdtemp())  # fmt: skip
trainer.fit(model, data)
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
