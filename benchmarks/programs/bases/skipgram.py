import random

import torch
import torch.nn.functional as F

random.seed(13)
torch.manual_seed(13)

# a corpus in which every topic has its own words
topics = {t: [f"{t}{i}" for i in range(12)] for t in ("sea", "war", "tax", "art", "law")}
sentences = []
for _ in range(700):
    t = random.choice(list(topics))
    sentences.append([random.choice(topics[t]) if random.random() < 0.85 else "the" for _ in range(8)])
vocab = sorted({w for s in sentences for w in s})
idx = {w: i for i, w in enumerate(vocab)}

pairs = []
for s in sentences:
    for a in range(len(s)):
        for b in range(max(0, a - 2), min(len(s), a + 3)):
            if a != b:
                pairs.append((idx[s[a]], idx[s[b]]))
pairs = torch.tensor(pairs)
print(len(vocab), "words", len(pairs), "pairs")

centers = torch.nn.Embedding(len(vocab), 24, _weight=0.1 * torch.randn(len(vocab), 24))
contexts = torch.nn.Embedding(len(vocab), 24, _weight=0.1 * torch.randn(len(vocab), 24))
optimizer = torch.optim.Adam(list(centers.parameters()) + list(contexts.parameters()), lr=0.01)


def neighbour_purity():
    e = F.normalize(centers.weight.detach(), dim=1)
    sim = e @ e.T
    sim.fill_diagonal_(-1)
    nearest = sim.argmax(1)
    words = [w for w in vocab if w != "the"]
    return sum(vocab[nearest[idx[w]]][:3] == w[:3] for w in words) / len(words)


step = 0
for epoch in range(4):
    pairs = pairs[torch.randperm(len(pairs))]
    for chunk in pairs.split(256):
        c, o = centers(chunk[:, 0]), contexts(chunk[:, 1])
        neg = contexts(torch.randint(0, len(vocab), (len(chunk), 5)))
        pos_score = (c * o).sum(1)
        neg_score = torch.einsum("bd,bkd->bk", c, neg)
        loss = -F.logsigmoid(pos_score).mean() - F.logsigmoid(-neg_score).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 100 == 0:
            print(f"step {step} loss {loss.item():.4f} purity {neighbour_purity():.3f}")
print("final purity:", round(neighbour_purity(), 3))
