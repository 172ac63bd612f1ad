"""A loop of one's own with Accelerate: `accumulate`, clipping, states saved and loaded."""

import hashlib
import tempfile

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn

set_seed(3)
chance = np.random.default_rng(2)
x = torch.from_numpy(chance.normal(size=(256, 10)).astype("f4"))
y = torch.from_numpy((x.numpy() @ chance.normal(size=(10, 3))).argmax(1))
accelerator = Accelerator(gradient_accumulation_steps=2, cpu=True)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, 32)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
folder = tempfile.mkdtemp()
for epoch in range(4):
    for xs, ys in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(xs), ys)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
    print(epoch, f"{loss.item():.6f}", schedule.get_last_lr())
    if epoch == 1:
        accelerator.save_state(folder)
    if epoch == 2:
        accelerator.load_state(folder)
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
