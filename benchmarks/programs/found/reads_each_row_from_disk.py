import tempfile
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

FILE = tempfile.NamedTemporaryFile(suffix=".npy", delete=False).name
rng = np.random.default_rng(0)
np.save(FILE, rng.normal(size=(512, 33)).astype("float32"))


class Rows(Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, i):
        table = np.load(FILE)  # whole file for each row
        time.sleep(0.003)  # the network drive
        row = table[i]
        return torch.from_numpy(row[:32]), torch.tensor(float(row[:32].sum() > 0))


torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(4):
    for x, y in DataLoader(Rows(), batch_size=16, shuffle=True):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
print("final", loss.item())
