import torch
from torch import nn

torch.manual_seed(51)
rng = torch.Generator().manual_seed(3)
P = torch.rand(20, 20, generator=rng).pow(6)
P = P / P.sum(1, keepdim=True)


def text(n):
    s = [0]
    for _ in range(n - 1):
        s.append(int(torch.multinomial(P[s[-1]], 1, generator=rng)))
    return torch.tensor(s)


corpus, held = text(6000), text(1500)


class GPT(nn.Module):
    def __init__(self, d=48, ctx=24):
        super().__init__()
        self.ctx = ctx
        self.wte, self.wpe = nn.Embedding(20, d), nn.Embedding(ctx, d)
        self.h = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 2 * d, 0.1, batch_first=True, norm_first=True), 2)
        self.head = nn.Linear(d, 20)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(ctx))

    def forward(self, idx):
        n = idx.shape[1]
        x = self.wte(idx) + self.wpe(torch.arange(n))
        return self.head(self.h(x, mask=self.mask[:n, :n], is_causal=True))


def batch(s, n=24):
    i = torch.randint(len(s) - 25, (n,))
    w = torch.stack([s[k:k + 25] for k in i])
    return w[:, :-1], w[:, 1:]


model = GPT()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1, (s + 1) / 50))
for step in range(500):
    x, y = batch(corpus)
    loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    warm.step()
    if step % 50 == 49:
        model.eval()
        with torch.no_grad():
            x, y = batch(held, 100)
            v = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten()).item()
        model.train()
        print(f"step {step + 1} loss {loss.item():.4f} val_loss {v:.4f}")
print("final val_loss", v)
