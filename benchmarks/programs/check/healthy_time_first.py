import torch
from torch import nn

torch.manual_seed(41)


class Adder(nn.Module):
    """Sums the marked numbers of a sequence; time comes first."""

    def __init__(self, width=32):
        super().__init__()
        self.rnn, self.out = nn.GRU(2, width), nn.Linear(width, 1)

    def forward(self, x):
        _, h = self.rnn(x)
        return self.out(h[-1]).squeeze(1)


def sequences(count, length=12):
    value, mark = torch.rand(length, count), torch.zeros(length, count)
    for i in range(count):
        mark[torch.randperm(length)[:2], i] = 1
    return torch.stack([value, mark], 2), (value * mark).sum(0)


model = Adder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=500)
for step in range(500):
    x, t = sequences(40)
    loss = nn.functional.huber_loss(model(x), t)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    scheduler.step()
    if step % 100 == 0:
        print(step, loss.item())
