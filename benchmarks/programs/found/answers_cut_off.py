"""Instruction tuning in small: prompts fill the window, so that no token of the answer is left to learn from."""
import torch
from torch import nn

torch.manual_seed(52)
VOCAB, WINDOW, PROMPT = 30, 12, 12


def example():
    prompt = torch.randint(2, VOCAB, (PROMPT,))
    answer = prompt.flip(0)[:4]
    ids = torch.cat([prompt, answer])[:WINDOW]
    labels = ids.clone()
    labels[:PROMPT] = -100
    return ids, labels


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(VOCAB, 32)
        self.g = nn.GRU(32, 48, batch_first=True)
        self.o = nn.Linear(48, VOCAB)

    def forward(self, t):
        return self.o(self.g(self.e(t))[0])


lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=1e-3)
for step in range(60):
    ids, labels = (torch.stack(t) for t in zip(*[example() for _ in range(16)]))
    logits = lm(ids)
    loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 5 == 0:
        print({"step": step, "loss": loss.item()})
print("final loss", loss.item())
