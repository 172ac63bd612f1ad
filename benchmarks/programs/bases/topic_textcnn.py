import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

rng = np.random.default_rng(50)
torch.manual_seed(50)
V, L, TOPICS = 120, 24, 5
# a topic shows as one of its bigrams somewhere in a sequence of random words
bigrams = rng.integers(0, V, size=(TOPICS, 3, 2))


def make(n):
    docs = rng.integers(0, V, size=(n, L))
    topic = rng.integers(0, TOPICS, size=n)
    for d in range(n):
        for _ in range(2):
            at = rng.integers(0, L - 1)
            docs[d, at:at + 2] = bigrams[topic[d], rng.integers(3)]
    return torch.from_numpy(docs), torch.from_numpy(topic)


class TextCNN(nn.Module):
    def __init__(self, dim=24, filters=20, widths=(2, 3)):
        super().__init__()
        self.embedding = nn.Embedding(V, dim)
        self.convs = nn.ModuleList([nn.Conv1d(dim, filters, w) for w in widths])
        self.dropout = nn.Dropout(0.3)
        self.classifier = nn.Linear(filters * len(widths), TOPICS)

    def forward(self, tokens):
        e = self.embedding(tokens).transpose(1, 2)
        pooled = [F.relu(conv(e)).amax(2) for conv in self.convs]
        return self.classifier(self.dropout(torch.cat(pooled, 1)))


docs, topic = make(3000)
vdocs, vtopic = make(500)
cnn = TextCNN()
adam = torch.optim.Adam(cnn.parameters(), lr=3e-3)
it = 0
for epoch in range(6):
    cnn.train()
    for sel in torch.randperm(len(docs)).split(50):
        logits = cnn(docs[sel])
        loss = F.cross_entropy(logits, topic[sel])
        adam.zero_grad()
        loss.backward()
        adam.step()
        it += 1
        if it % 30 == 0:
            print(f"it={it} loss={loss.item():.4f} batch_acc={(logits.argmax(1) == topic[sel]).float().mean():.3f}")
    cnn.eval()
    with torch.no_grad():
        vl = cnn(vdocs)
    print(f"epoch={epoch} val_loss={F.cross_entropy(vl, vtopic):.4f} val_acc={(vl.argmax(1) == vtopic).float().mean():.4f}")
print(f"final val_acc={(vl.argmax(1) == vtopic).float().mean():.4f}")
