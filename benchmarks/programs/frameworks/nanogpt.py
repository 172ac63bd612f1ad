"""A character model with accumulated gradients, clipping, warm-up and cosine, evaluation, saving and resuming."""

import hashlib
import math
import tempfile

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(1337)
text = "to be, or not to be, that is the question: " * 60
letters = sorted(set(text))
data = torch.tensor([letters.index(c) for c in text])
train, held = data[:2300], data[2300:]
BLOCK, BATCH, WIDTH, STEPS, WARMUP = 24, 8, 32, 40, 5


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH), nn.Dropout(0.1))

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = (p.view(n, t, 2, -1).transpose(1, 2) for p in self.qkv(self.first(x)).split(WIDTH, 2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, WIDTH)
        x = x + self.out(mixed)
        return x + self.feed(self.second(x))


class Gpt(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(len(letters), WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.blocks, self.norm = nn.Sequential(Block(), Block()), nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(letters), bias=False)
        self.token.weight = self.head.weight

    def forward(self, x, y):
        x = self.norm(self.blocks(self.token(x) + self.place(torch.arange(x.shape[1]))))
        return F.cross_entropy(self.head(x).flatten(0, 1), y.flatten())


def batch(source):
    at = torch.randint(len(source) - BLOCK, (BATCH,))
    return torch.stack([source[i : i + BLOCK] for i in at]), torch.stack([source[i + 1 : i + BLOCK + 1] for i in at])


def run(first, last, saved=None):
    model = Gpt()
    groups = [{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
              {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}]  # fmt: skip
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.95))
    if saved:
        kept = torch.load(saved, weights_only=True)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
    for step in range(first, last):
        share = min(1.0, (step - WARMUP) / (STEPS - WARMUP))
        rate = 1e-3 * (step + 1) / WARMUP if step < WARMUP else 1e-4 + 4.5e-4 * (1 + math.cos(math.pi * share))
        for group in optimizer.param_groups:
            group["lr"] = rate
        if step % 10 == 0:
            model.eval()
            with torch.no_grad():
                print(f"step {step}: val loss {sum(model(*batch(held)).item() for _ in range(4)) / 4:.5f}")
            model.train()
        for _ in range(2):
            loss = model(*batch(train)) / 2
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"iter {last}: loss {2 * loss.item():.5f}")
    return model, optimizer


model, optimizer = run(0, 20)
place = tempfile.mktemp(suffix=".pt")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, place)
model, _ = run(20, STEPS, place)
print(hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
