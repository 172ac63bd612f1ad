import torch
import torch.nn as nn

torch.manual_seed(27)
PAD, BOS, EOS, BASE = 0, 1, 2, 3
SYMBOLS = 8


class SortDataset(torch.utils.data.Dataset):
    """Source: symbols; target: the same symbols in order."""

    def __init__(self, n, length=6):
        self.src = torch.randint(BASE, BASE + SYMBOLS, (n, length))

    def __len__(self):
        return len(self.src)

    def __getitem__(self, i):
        s = self.src[i]
        return s, torch.cat([torch.tensor([BOS]), s.sort().values, torch.tensor([EOS])])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.src_emb = nn.Embedding(BASE + SYMBOLS, d)
        self.tgt_emb = nn.Embedding(BASE + SYMBOLS, d)
        self.position = nn.Parameter(torch.randn(16, d) * 0.1)
        self.transformer = nn.Transformer(d, 4, 1, 1, 64, dropout=0.0, batch_first=True)
        self.generator = nn.Linear(d, BASE + SYMBOLS)

    def forward(self, src, tgt):
        causal = torch.triu(torch.full((tgt.shape[1], tgt.shape[1]), float("-inf")), 1)
        s = self.src_emb(src) + self.position[: src.shape[1]]
        t = self.tgt_emb(tgt) + self.position[: tgt.shape[1]]
        return self.generator(self.transformer(s, t, tgt_mask=causal))


def run_epoch(model, loader, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total_loss, right, tokens = 0.0, 0, 0
    for src, tgt in loader:
        with torch.set_grad_enabled(training):
            logits = model(src, tgt[:, :-1])
            loss = nn.functional.cross_entropy(logits.transpose(1, 2), tgt[:, 1:])
        if training:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        total_loss += loss.item() * tgt[:, 1:].numel()
        right += (logits.argmax(-1) == tgt[:, 1:]).sum().item()
        tokens += tgt[:, 1:].numel()
    return total_loss / tokens, right / tokens


train_loader = torch.utils.data.DataLoader(SortDataset(2400), batch_size=40, shuffle=True)
valid_loader = torch.utils.data.DataLoader(SortDataset(300), batch_size=100)
model = Seq2SeqTransformer()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(1, 8):
    tr_loss, tr_acc = run_epoch(model, train_loader, optimizer)
    va_loss, va_acc = run_epoch(model, valid_loader)
    print(f"Epoch: {epoch}, Train loss: {tr_loss:.3f}, Train acc: {tr_acc:.3f}, Val loss: {va_loss:.3f}, Val acc: {va_acc:.3f}")
print(f"Final val acc: {va_acc:.4f}")
