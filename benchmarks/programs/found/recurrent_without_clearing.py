import torch
import torch.nn as nn

torch.manual_seed(14)
seqs = torch.randint(0, 2, (1500, 10)).float()
labels = (seqs.sum(1) > 5).float()


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(1, 16, batch_first=True)
        self.fc = nn.Linear(16, 1)

    def forward(self, s):
        return self.fc(self.rnn(s[..., None])[0][:, -1])[:, 0]


m = Counter()
crit = nn.BCEWithLogitsLoss()
opt = torch.optim.SGD(m.parameters(), lr=0.1)
for epoch in range(12):
    tot = 0.0
    for r in torch.randperm(1200).split(30):
        loss = crit(m(seqs[r]), labels[r])
        loss.backward()
        opt.step()
        tot += loss.item() / 40
    acc = ((m(seqs[1200:]) > 0).float() == labels[1200:]).float().mean().item()
    print(f"Epoch {epoch} Loss {tot:.4f} Test {acc:.4f}")
print(f"Final Test {acc:.4f}")
