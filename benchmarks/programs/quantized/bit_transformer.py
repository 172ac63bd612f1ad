"""A language model with ternary linear layers (as BitNet b1.58) on sums written as text."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(5)
LETTERS = "0123456789+=;"
WIDTH, HEADS, DEPTH, LENGTH = 64, 4, 2, 32


def ternary(w):
    scale = w.abs().mean().clamp(min=1e-5)
    return (w / scale).round().clamp(-1, 1) * scale


def eight_bits(x):
    scale = 127 / x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
    return (x * scale).round().clamp(-128, 127) / scale


class BitLinear(nn.Linear):
    def forward(self, x):
        x = F.layer_norm(x, x.shape[-1:])
        x = x + (eight_bits(x) - x).detach()
        w = self.weight + (ternary(self.weight) - self.weight).detach()
        return F.linear(x, w, self.bias)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = BitLinear(WIDTH, 3 * WIDTH, bias=False), BitLinear(WIDTH, WIDTH, bias=False)
        self.up, self.down = BitLinear(WIDTH, 4 * WIDTH, bias=False), BitLinear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3 * HEADS, -1).transpose(1, 2).chunk(3, 1)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.down(F.relu(self.up(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.Sequential(*[Block() for _ in range(DEPTH)])
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, len(LETTERS))

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        return self.head(self.norm(self.blocks(x)))


a, b = torch.randint(0, 50, (2, 6000))
text = "".join(f"{i}+{j}={i + j};" for i, j in zip(a.tolist(), b.tolist()))
data = torch.tensor([LETTERS.index(letter) for letter in text])
cut = int(0.9 * len(data))


def batch(low, high, count=32):
    starts = torch.randint(low, high - LENGTH - 1, (count,))
    rows = starts[:, None] + torch.arange(LENGTH + 1)
    return data[rows[:, :-1]], data[rows[:, 1:]]


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=400, pct_start=0.1)
for step in range(400):
    model.train()
    tokens, after = batch(0, cut)
    loss = F.cross_entropy(model(tokens).flatten(0, 1), after.flatten())
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    schedule.step()
    if step % 20 == 19:
        model.eval()
        with torch.no_grad():
            tokens, after = batch(cut, len(data), 128)
            held = F.cross_entropy(model(tokens).flatten(0, 1), after.flatten())
        print(f"step {step + 1} train {loss.item():.4f} val {held.item():.4f}")
