import torch
import torch.nn as nn
from sklearn.datasets import load_digits

torch.manual_seed(15)
bunch = load_digits()
x = torch.tensor(bunch.data / 16, dtype=torch.float32)
digit = torch.tensor(bunch.target)
ink = x.sum(1, keepdim=True)
ink = (ink - ink.mean()) / ink.std()
even = (digit % 2 == 0).float()
train, test = torch.arange(0, 1400), torch.arange(1400, len(x))


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 48), nn.ReLU())
        self.which = nn.Linear(48, 10)
        self.parity = nn.Linear(48, 1)
        self.amount = nn.Linear(48, 1)

    def forward(self, inputs):
        h = self.shared(inputs)
        return {"which": self.which(h), "parity": self.parity(h).squeeze(1), "amount": self.amount(h)}


def losses(out, rows):
    return {
        "which": nn.functional.cross_entropy(out["which"], digit[rows]),
        "parity": nn.functional.binary_cross_entropy_with_logits(out["parity"], even[rows]),
        "amount": nn.functional.mse_loss(out["amount"], ink[rows]),
    }


weights = {"which": 1.0, "parity": 0.5, "amount": 0.5}
net = MultiTask()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for epoch in range(12):
    net.train()
    sums = dict.fromkeys(weights, 0.0)
    for rows in train[torch.randperm(len(train))].split(40):
        parts = losses(net(x[rows]), rows)
        loss = sum(weights[k] * parts[k] for k in parts)
        opt.zero_grad()
        loss.backward()
        opt.step()
        for k in parts:
            sums[k] += parts[k].item() * len(rows) / len(train)
    net.eval()
    with torch.no_grad():
        out = net(x[test])
        held = losses(out, test)
        acc = (out["which"].argmax(1) == digit[test]).float().mean().item()
    print(f"epoch {epoch} " + " ".join(f"{k}={v:.3f}/{held[k]:.3f}" for k, v in sums.items()) + f" accuracy={acc:.3f}")
print(f"final accuracy={acc:.4f}")
