"""A small transformer that returns its own loss, parameter groups with and without decay, warm-up by hand."""

import json
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, WIDTH, CONTEXT = 32, 32, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (4, -1)).transpose(1, 2) for t in self.qkv(self.ln1(x)).chunk(3, -1))
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.places = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, idx, targets=None):
        x = self.tokens(idx) + self.places(torch.arange(idx.shape[1]))
        for block in self.blocks:
            x = block(x)
        logits = self.head(self.norm(x))
        loss = None if targets is None else F.cross_entropy(logits.view(-1, VOCABULARY), targets.view(-1))
        return logits, loss


torch.manual_seed(1337)
data = (torch.arange(4000) * 7 % 31) % VOCABULARY


def get_batch(low, high):
    starts = torch.randint(low, high - CONTEXT - 1, (8,))
    return (torch.stack([data[s + o : s + o + CONTEXT] for s in starts]) for o in (0, 1))


model = GPT()
decay = [p for p in model.parameters() if p.dim() > 1]
plain = [p for p in model.parameters() if p.dim() <= 1]
optimizer = torch.optim.AdamW(
    [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}],
    lr=3e-3,
    betas=(0.9, 0.95),
)
truth = {"loss": [], "lr": [], "val_loss": []}
for it in range(30):
    lr = 3e-3 * (it + 1) / 10 if it < 10 else 3e-4 + 0.5 * 2.7e-3 * (1 + math.cos(math.pi * (it - 10) / 20))
    for group in optimizer.param_groups:
        group["lr"] = lr
    if it % 10 == 0:
        model.eval()
        with torch.no_grad():
            losses = [model(*get_batch(3600, 4000))[1].item() for _ in range(4)]
        truth["val_loss"].append(sum(losses) / 4)
        print(f"step {it}: val loss {truth['val_loss'][-1]:.4f}")
        model.train()
    _, loss = model(*get_batch(0, 3600))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    truth["loss"].append(loss.item())
    truth["lr"].append(lr)
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
