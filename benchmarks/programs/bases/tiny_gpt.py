"""
A very small GPT on arithmetic lines like "12+35=47;", characters as tokens.
Configuration as a block of constants, evaluation every few steps, gradient accumulation.
"""
import math

import torch
import torch.nn as nn
from torch.nn import functional as F

# ---------------------------------------------------------------------------
batch_size = 16
accumulate = 2
block_size = 32
n_layer, n_head, n_embd = 2, 2, 32
max_iters = 240
eval_interval = 40
learning_rate, min_lr, warmup_iters = 4e-3, 4e-4, 20
weight_decay = 0.1
grad_clip = 1.0
torch.manual_seed(1337)
# ---------------------------------------------------------------------------

rows = []
for a in range(10):
    for b in range(10):
        rows.append(f"{a}+{b}={a + b};")
order = torch.randint(0, len(rows), (6000,))
corpus = "".join(rows[i] for i in order)
alphabet = sorted(set(corpus))
encode = {c: i for i, c in enumerate(alphabet)}
stream = torch.tensor([encode[c] for c in corpus])
n = int(0.9 * len(stream))
splits = {"train": stream[:n], "val": stream[n:]}


def get_batch(split):
    d = splits[split]
    ix = torch.randint(len(d) - block_size - 1, (batch_size,))
    return torch.stack([d[i:i + block_size] for i in ix]), torch.stack([d[i + 1:i + 1 + block_size] for i in ix])


class CausalSelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, n_head, C // n_head).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention()
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(len(alphabet), n_embd)
        self.wpe = nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList(Block() for _ in range(n_layer))
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, len(alphabet), bias=False)
        self.apply(self._init)

    def _init(self, m):
        if isinstance(m, (nn.Linear, nn.Embedding)):
            nn.init.normal_(m.weight, std=0.08)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


@torch.no_grad()
def estimate_loss(iters=10):
    model.eval()
    out = {s: sum(model(*get_batch(s))[1].item() for _ in range(iters)) / iters for s in ("train", "val")}
    model.train()
    return out


model = GPT()
decay = [p for p in model.parameters() if p.dim() >= 2]
plain = [p for p in model.parameters() if p.dim() < 2]
optimizer = torch.optim.AdamW([{"params": decay, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}],
                              lr=learning_rate, betas=(0.9, 0.95))
for it in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(it)
    if it % eval_interval == 0 or it == max_iters - 1:
        losses = estimate_loss()
        print(f"step {it}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    for _ in range(accumulate):
        xb, yb = get_batch("train")
        _, loss = model(xb, yb)
        (loss / accumulate).backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if it % 20 == 0:
        print(f"iter {it}: loss {loss.item():.4f} norm {norm:.3f}")
print(f"final val loss: {estimate_loss(20)['val']:.4f}")
