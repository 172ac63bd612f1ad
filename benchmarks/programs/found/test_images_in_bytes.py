import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(35)
raw = load_digits()


class Images(Dataset):
    def __init__(self, images, targets, transform=None):
        self.images, self.targets, self.transform = images, targets, transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i].astype(np.float32)
        return (self.transform(img) if self.transform else img).reshape(-1), self.targets[i]


train = DataLoader(Images(raw.images[:1400], raw.target[:1400], lambda im: (im - 8) / 8), batch_size=40, shuffle=True)
test = DataLoader(Images(raw.images[1400:] * 15.9, raw.target[1400:]), batch_size=100)
net = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.Tanh(), torch.nn.Linear(48, 10))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(8):
    net.train()
    tl = 0.0
    for x, y in train:
        loss = torch.nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tl += loss.item() / len(train)
    net.eval()
    vl, ok = 0.0, 0
    with torch.no_grad():
        for x, y in test:
            out = net(x)
            vl += torch.nn.functional.cross_entropy(out, y).item() / len(test)
            ok += (out.argmax(1) == y).sum().item()
    print(f"epoch {epoch} loss {tl:.4f} val_loss {vl:.4f} val_acc {ok / 397:.4f}")
print(f"final val_acc {ok / 397:.4f}")
