import math

import torch
import torch.nn as nn
from sets import text
from torch.nn import functional as F

torch.manual_seed(1337)
data = text(60000)
n = int(0.9 * len(data))
block, batch, vocab, width = 32, 24, 27, 48


def get_batch(split):
    source = data[:n] if split == "train" else data[n:]
    ix = torch.randint(len(source) - block - 1, (batch,))
    return torch.stack([source[i : i + block] for i in ix]), torch.stack([source[i + 1 : i + block + 1] for i in ix])


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, C // 4).transpose(1, 2) for t in self.qkv(self.ln1(x)).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(B, T, C))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, width), nn.Embedding(block, width)
        self.blocks = nn.Sequential(Block(), Block())
        self.ln = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocab, bias=False)
        self.apply(lambda m: nn.init.normal_(m.weight, std=0.02) if isinstance(m, nn.Linear | nn.Embedding) else None)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        logits = self.head(self.ln(self.blocks(x)))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, vocab), targets.view(-1))
        return logits, loss


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, betas=(0.9, 0.95), weight_decay=0.1)
steps, warmup = 600, 60
for step in range(steps):
    rate = min(1.0, (step + 1) / warmup) * (0.55 + 0.45 * math.cos(math.pi * step / steps))
    for group in optimizer.param_groups:
        group["lr"] = 2e-3 * rate
    _, loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 100 == 0:
        model.eval()
        with torch.no_grad():
            print(f"step {step}: train loss {loss.item():.4f}, val loss {model(*get_batch('val'))[1].item():.4f}")
        model.train()
