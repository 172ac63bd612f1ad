import math
import random

import torch
from torch import nn

random.seed(40)
torch.manual_seed(40)

syllables = ["ka", "lo", "mi", "ren", "tu", "sha", "bel", "dor", "ix", "una"]
names = ["".join(random.choices(syllables, k=random.choice([2, 2, 3]))) for _ in range(200)]
text = " ".join(random.choice(names) for _ in range(6000))
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
split = int(len(data) * 0.9)
train_data, val_data = data[:split], data[split:]


class CharRNN(nn.Module):
    def __init__(self, vocab, hidden=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, 24)
        self.rnn = nn.GRU(24, hidden)
        self.decoder = nn.Linear(hidden, vocab)

    def forward(self, x, h=None):
        y, h = self.rnn(self.embed(x), h)
        return self.decoder(y), h


def batchify(d, bsz):
    n = len(d) // bsz
    return d[: n * bsz].view(bsz, n).t().contiguous()


bptt = 30
train_b, val_b = batchify(train_data, 32), batchify(val_data, 10)
model = CharRNN(len(chars))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def evaluate():
    model.eval()
    h, total, count = None, 0.0, 0
    with torch.no_grad():
        for i in range(0, len(val_b) - 1, bptt):
            x, y = val_b[i:i + bptt][: len(val_b) - 1 - i], val_b[i + 1:i + 1 + bptt]
            out, h = model(x, h)
            total += criterion(out.flatten(0, 1), y.flatten()).item() * len(y)
            count += len(y)
    return total / count


for epoch in range(1, 6):
    model.train()
    hidden = None
    losses = []
    for i in range(0, len(train_b) - 1, bptt):
        y = train_b[i + 1:i + 1 + bptt]
        x = train_b[i:i + len(y)]
        if hidden is not None:
            hidden = hidden.detach()
        out, hidden = model(x, hidden)
        loss = criterion(out.flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        losses.append(loss.item())
    val = evaluate()
    mean = sum(losses) / len(losses)
    print(f"| epoch {epoch} | train loss {mean:.3f} | train ppl {math.exp(mean):.2f} | val loss {val:.3f} | val ppl {math.exp(val):.2f}")
print(f"| final | val ppl {math.exp(val):.3f}")
