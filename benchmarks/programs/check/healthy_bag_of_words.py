import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Reviews(Dataset):
    """Lists of word numbers with a topic, padded in `collate`."""

    def __init__(self, n=1200, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 5, (n,), generator=g)
        self.texts = []
        for label in self.labels.tolist():
            k = int(torch.randint(8, 20, (1,), generator=g))
            common = torch.randint(1, 200, (k,), generator=g)
            special = torch.randint(200 + 40 * label, 240 + 40 * label, (k,), generator=g)
            self.texts.append(torch.where(torch.rand(k, generator=g) < 0.35, special, common))

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        return {"input_ids": self.texts[i], "labels": self.labels[i]}


def collate(rows):
    ids = nn.utils.rnn.pad_sequence([r["input_ids"] for r in rows], batch_first=True)
    return {"input_ids": ids, "labels": torch.stack([r["labels"] for r in rows])}


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(400, 32, padding_idx=0)
        self.out = nn.Linear(32, 5)

    def forward(self, input_ids):
        mask = (input_ids != 0).float().unsqueeze(-1)
        return self.out((self.words(input_ids) * mask).sum(1) / mask.sum(1))


torch.manual_seed(0)
loader = DataLoader(Reviews(), batch_size=32, shuffle=True, collate_fn=collate)
model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    for batch in loader:
        loss = nn.functional.cross_entropy(model(batch["input_ids"]), batch["labels"])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(f"epoch={epoch} loss={loss.item():.3f}")
