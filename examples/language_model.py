"""Train a small transformer on the characters of a text (its own source by default). Needs only torch.

traindx run -- python examples/language_model.py
traindx run --steps 100 -- python examples/language_model.py --lr 0.3
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, CONTEXT, BATCH = 64, 32, 16


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.before_attention, self.before_mlp = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        q, k, v = (
            t.unflatten(-1, (4, -1)).transpose(1, 2) for t in self.qkv(self.before_attention(x)).chunk(3, -1)
        )
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.before_mlp(x))


class LanguageModel(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(WIDTH, vocabulary)

    def forward(self, tokens):
        return self.head(self.blocks(self.tokens(tokens) + self.places.weight[: tokens.shape[1]]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--text", type=Path, default=Path(__file__))
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--steps", type=int, default=200)
    args = parser.parse_args()

    torch.manual_seed(0)
    text = args.text.read_text(encoding="utf-8")
    letters = sorted(set(text))
    data = torch.tensor([letters.index(c) for c in text])
    border = len(data) * 9 // 10
    model = LanguageModel(len(letters))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, total_steps=args.steps, pct_start=0.1)

    def loss_on(part):
        starts = torch.randint(0, len(part) - CONTEXT - 1, (BATCH,))
        windows = torch.stack([part[s : s + CONTEXT + 1] for s in starts])
        return F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())

    for step in range(1, args.steps + 1):
        loss = loss_on(data[:border])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            with torch.no_grad():
                held_out = loss_on(data[border:]).item()
            print(f"step {step} train loss {loss.item():.3f} val loss {held_out:.3f}")


if __name__ == "__main__":
    main()
