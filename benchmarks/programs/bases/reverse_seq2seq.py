"""GRU encoder-decoder: reverses short digit strings. Teacher forcing while training, greedy decoding after."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(123)
SOS, VOCAB, LENGTH = 10, 11, 5


def make_batch(size):
    src = torch.randint(0, 10, (size, LENGTH))
    return src, src.flip(1)


class Encoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        return self.gru(self.emb(src))


class Decoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.attend = nn.Linear(dim, dim)
        self.out = nn.Linear(2 * dim, VOCAB)

    def forward(self, token, state, memory):
        h, state = self.gru(self.emb(token), state)
        weights = torch.softmax(self.attend(h) @ memory.transpose(1, 2), -1)
        return self.out(torch.cat([h, weights @ memory], -1)), state


DIM = 48
enc, dec = Encoder(DIM), Decoder(DIM)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=4e-3)


def exact_match(n=200):
    src, want = make_batch(n)
    with torch.no_grad():
        memory, state = enc(src)
        tok = torch.full((n, 1), SOS)
        said = []
        for _ in range(LENGTH):
            logits, state = dec(tok, state, memory)
            tok = logits.argmax(-1)
            said.append(tok)
    return (torch.cat(said, 1) == want).all(1).float().mean().item()


for it in range(1, 401):
    src, tgt = make_batch(64)
    memory, state = enc(src)
    inp = torch.cat([torch.full((64, 1), SOS), tgt[:, :-1]], 1)
    logits, _ = dec(inp, state, memory)
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), tgt.reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_([*enc.parameters(), *dec.parameters()], 1.0)
    opt.step()
    if it % 50 == 0:
        print(f"iter {it}: loss {loss.item():.4f}, exact match {exact_match():.3f}")
print(f"final exact match: {exact_match(500):.3f}")
