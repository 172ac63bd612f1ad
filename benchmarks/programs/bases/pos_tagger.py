import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

random.seed(3)
torch.manual_seed(3)

DET, NOUN, VERB, ADJ, ADV, PREP = range(1, 7)
lexicon = {
    DET: ["the", "a", "every", "some"],
    NOUN: ["dog", "house", "run", "paint", "light", "river", "walk", "play"],
    VERB: ["run", "paint", "light", "walk", "play", "sees", "likes"],
    ADJ: ["light", "red", "old", "quick"],
    ADV: ["quickly", "often", "well"],
    PREP: ["in", "near", "with"],
}


def noun_phrase():
    out = [DET] + [ADJ] * random.choice([0, 0, 1, 2]) + [NOUN]
    if random.random() < 0.3:
        out += [PREP] + noun_phrase()
    return out


def sentence():
    tags = noun_phrase() + [ADV] * random.choice([0, 1]) + [VERB] + noun_phrase()
    return [random.choice(lexicon[t]) for t in tags], tags


corpus = [sentence() for _ in range(1300)]
word2id = {"<pad>": 0}
for words, _ in corpus:
    for w in words:
        word2id.setdefault(w, len(word2id))


def collate(samples):
    lengths = torch.tensor([len(w) for w, _ in samples])
    xs = pad_sequence([torch.tensor([word2id[w] for w in ws]) for ws, _ in samples], batch_first=True)
    ys = pad_sequence([torch.tensor(ts) for _, ts in samples], batch_first=True)
    return xs, ys, lengths


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, emb=16, hid=24):
        super().__init__()
        self.emb = nn.Embedding(n_words, emb, padding_idx=0)
        self.lstm = nn.LSTM(emb, hid, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hid, n_tags)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(h)


train_loader = DataLoader(corpus[:1000], batch_size=25, shuffle=True, collate_fn=collate)
dev_loader = DataLoader(corpus[1000:], batch_size=100, collate_fn=collate)
tagger = Tagger(len(word2id), 7)
criterion = nn.CrossEntropyLoss(ignore_index=0)
optimizer = torch.optim.Adam(tagger.parameters(), lr=0.005)
for epoch in range(4):
    tagger.train()
    epoch_loss = 0.0
    for x, y, n in train_loader:
        optimizer.zero_grad()
        scores = tagger(x, n)
        loss = criterion(scores.flatten(0, 1), y.flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(tagger.parameters(), 5.0)
        optimizer.step()
        epoch_loss += loss.item()
    tagger.eval()
    good = count = 0
    with torch.no_grad():
        for x, y, n in dev_loader:
            keep = y > 0
            good += (tagger(x, n).argmax(-1)[keep] == y[keep]).sum().item()
            count += keep.sum().item()
    print(f"epoch {epoch} | loss {epoch_loss / len(train_loader):.4f} | dev token accuracy {good / count:.4f}")
print(f"final token accuracy {good / count:.4f}")
