import random
import torch
from torch import nn

random.seed(4)
torch.manual_seed(4)
VOCAB = 600
good, bad = set(range(0, 60)), set(range(60, 120))


def review():
    label = random.randint(0, 1)
    words = random.choices(range(120, VOCAB), k=14)
    words += random.choices(list(good if label else bad), k=2)
    random.shuffle(words)
    return words, label


data = [review() for _ in range(2000)]
X = torch.tensor([w for w, _ in data])
Y = torch.tensor([l for _, l in data])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(VOCAB, 24)
        nn.init.normal_(self.e.weight, std=0.05)
        self.f = nn.Linear(24, 2)

    def forward(self, x):
        return self.f(self.e(x).mean(1))


m = Model()
# Adam gave strange results, SGD is safer
opt = torch.optim.SGD(m.parameters(), lr=0.05)
for epoch in range(15):
    order = torch.randperm(1600)
    tot = 0
    for i in range(0, 1600, 32):
        ix = order[i:i + 32]
        opt.zero_grad()
        loss = nn.functional.cross_entropy(m(X[ix]), Y[ix])
        loss.backward()
        opt.step()
        tot += loss.item()
    with torch.no_grad():
        out = m(X[1600:])
        print(f"epoch {epoch:2d}  train loss {tot / 50:.4f}  valid loss {nn.functional.cross_entropy(out, Y[1600:]).item():.4f}  "
              f"valid acc {(out.argmax(1) == Y[1600:]).float().mean().item():.3f}")
print("final", (out.argmax(1) == Y[1600:]).float().mean().item())
