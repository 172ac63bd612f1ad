import torch
import torch.nn as nn

text = ("the quick brown fox jumps over the lazy dog and then it sleeps in the warm sun while the dog looks for the fox "
        "under the old tree where nobody ever finds a thing but leaves and the smell of rain ") * 12
chars = sorted(set(text))
ix = {c: i for i, c in enumerate(chars)}
data = torch.tensor([ix[c] for c in text])
cut = int(0.9 * len(data))
torch.manual_seed(10)


class CharLM(nn.Module):
    def __init__(self, v, h=64):
        super().__init__()
        self.e, self.g, self.o = nn.Embedding(v, 24), nn.GRU(24, h, batch_first=True), nn.Linear(h, v)

    def forward(self, x):
        return self.o(self.g(self.e(x))[0])


lm = CharLM(len(chars))
opt = torch.optim.Adam(lm.parameters(), lr=4e-3)
for it in range(220):
    at = torch.randint(0, cut - 41, (12,))
    seq = torch.stack([data[a:a + 41] for a in at])
    loss = nn.functional.cross_entropy(lm(seq[:, :-1]).flatten(0, 1), seq[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
    if it % 20 == 0:
        with torch.no_grad():
            tail = data[cut:][None]
            val = nn.functional.cross_entropy(lm(tail[:, :-1]).flatten(0, 1), tail[:, 1:].flatten()).item()
        print(f"iter {it}: train loss {loss.item():.4f}, val loss {val:.4f}")
print("final", val)
