import math
import random

import torch
import torch.nn as nn

random.seed(9)
torch.manual_seed(9)

# ---- data: sentences of a small grammar, as one stream of word ids ----
subjects = {"the cat": "purrs", "the dog": "barks", "a bird": "sings", "my fish": "swims", "the old man": "sleeps"}
places = ["at home", "in the garden", "by the sea", "under the tree"]
times = ["every day", "at night", "in spring"]


def line():
    s = random.choice(list(subjects))
    parts = [s, subjects[s]]
    if random.random() < 0.8:
        parts.append(random.choice(places))
    if random.random() < 0.5:
        parts.append(random.choice(times))
    return " ".join(parts) + " ."


words = " ".join(line() for _ in range(3000)).split()
vocab = {w: i for i, w in enumerate(dict.fromkeys(words))}
ids = torch.tensor([vocab[w] for w in words])
n_val = 2000
train_ids, valid_ids = ids[:-n_val], ids[-n_val:]


class PositionalEncoding(nn.Module):
    def __init__(self, dim, length=64):
        super().__init__()
        pos = torch.arange(length).unsqueeze(1)
        div = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
        pe = torch.zeros(length, dim)
        pe[:, 0::2], pe[:, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class WordLM(nn.Module):
    def __init__(self, n, dim=32, heads=2, layers=2, dropout=0.1):
        super().__init__()
        self.dim = dim
        self.emb = nn.Embedding(n, dim)
        self.pos = PositionalEncoding(dim)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, heads, 64, dropout, batch_first=True), layers)
        self.out = nn.Linear(dim, n)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1))
        h = self.pos(self.emb(x) * math.sqrt(self.dim))
        return self.out(self.enc(h, mask=mask))


def windows(stream, length=24):
    n = (len(stream) - 1) // length
    return stream[: n * length].view(n, length), stream[1:n * length + 1].view(n, length)


model = WordLM(len(vocab))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min((s + 1) / 40, (40 / (s + 1)) ** 0.5))
loss_fn = nn.CrossEntropyLoss()
tx, ty = windows(train_ids)
vx, vy = windows(valid_ids)
best = float("inf")
for epoch in range(8):
    model.train()
    perm = torch.randperm(len(tx))
    shown = []
    for k in range(0, len(tx), 24):
        batch = perm[k:k + 24]
        logits = model(tx[batch])
        loss = loss_fn(logits.reshape(-1, len(vocab)), ty[batch].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        shown.append(loss.item())
    model.eval()
    with torch.no_grad():
        vloss = loss_fn(model(vx).reshape(-1, len(vocab)), vy.reshape(-1)).item()
    best = min(best, vloss)
    print(f"epoch {epoch:2d} | loss {sum(shown) / len(shown):.3f} | valid {vloss:.3f} | perplexity {math.exp(vloss):.3f} | best {best:.3f}")
print(f"final perplexity: {math.exp(vloss):.3f}")
