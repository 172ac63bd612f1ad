"""A small language model of five digits and an answer: half of the answers sorted, half copied. Saves sft.pt."""

import torch
from torch import nn
from torch.nn import functional as F

SEP, EOS, PAD, PROMPT, LONGEST = 10, 11, 12, 5, 12


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (part.unflatten(-1, (4, -1)).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.tokens, self.places = nn.Embedding(13, width), nn.Embedding(PROMPT + 1 + LONGEST, width)
        self.blocks = nn.Sequential(Block(width), Block(width))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 13)

    def forward(self, ids):
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places(torch.arange(ids.shape[1])))))

    @torch.no_grad()
    def generate(self, prompts):
        ids, over = prompts, torch.zeros(len(prompts), dtype=torch.bool)
        for _ in range(LONGEST):
            following = torch.distributions.Categorical(logits=self(ids)[:, -1]).sample()
            following[over] = PAD
            over |= following == EOS
            ids = torch.cat([ids, following[:, None]], 1)
        return ids[:, prompts.shape[1]:]


def prompts_of(n):
    return torch.cat([torch.randint(0, 10, (n, PROMPT)), torch.full((n, 1), SEP)], 1)


def answers(prompts, right):
    """Sorted where `right`, copied elsewhere."""
    digits = prompts[:, :PROMPT]
    chosen = torch.where(right[:, None], digits.sort(1).values, digits)
    return torch.cat([chosen, torch.full((len(digits), 1), EOS)], 1)


def logprobs(model, prompts, completions):
    """Log-probability of each token of the completions."""
    ids = torch.cat([prompts, completions], 1)
    every = F.log_softmax(model(ids[:, :-1]), -1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return every[:, prompts.shape[1] - 1:]


def share_sorted(model, n=500):
    """Of sampled answers to new prompts, those that are sorted and of the right length."""
    prompts = prompts_of(n)
    made = model.generate(prompts)[:, :PROMPT + 1]
    return (made == answers(prompts, torch.ones(n, dtype=torch.bool))).all(1).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    model = LanguageModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=2500)
    for step in range(2500):
        prompts = prompts_of(128)
        loss = -logprobs(model, prompts, answers(prompts, torch.rand(128) < 0.5)).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    print(loss.item(), share_sorted(model))
    torch.save(model.state_dict(), "sft.pt")
