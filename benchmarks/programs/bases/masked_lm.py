import torch
from torch import nn

torch.manual_seed(18)
VOCAB, MASK, LEN = 30, 30, 16


def sequences(n):
    """Arithmetic progressions modulo the vocabulary, a new start half way."""
    start, stride = torch.randint(0, VOCAB, (n, 2)), torch.randint(1, 4, (n, 1))
    steps = torch.arange(LEN // 2)
    halves = [(start[:, k:k + 1] + steps * stride) % VOCAB for k in range(2)]
    return torch.cat(halves, 1)


def mask_tokens(tokens, p=0.2):
    labels = tokens.clone()
    chosen = torch.rand(tokens.shape) < p
    labels[~chosen] = -100
    inputs = tokens.clone()
    inputs[chosen & (torch.rand(tokens.shape) < 0.9)] = MASK
    return inputs, labels


class MiniBert(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(VOCAB + 1, d)
        self.pos = nn.Embedding(LEN, d)
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, activation="gelu", batch_first=True, norm_first=True),
            2, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(d)
        self.lm = nn.Linear(d, VOCAB)

    def forward(self, ids):
        h = self.tok(ids) + self.pos.weight
        return self.lm(self.norm(self.layers(h)))


bert = MiniBert()
optimizer = torch.optim.AdamW(bert.parameters(), lr=2e-3, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=500, pct_start=0.1)
ce = nn.CrossEntropyLoss(ignore_index=-100)
data, held = sequences(4000), sequences(500)
val_in, val_lab = mask_tokens(held)
log = []
for step in range(500):
    inputs, labels = mask_tokens(data[torch.randint(0, len(data), (48,))])
    loss = ce(bert(inputs).flatten(0, 1), labels.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    log.append(loss.item())
    if (step + 1) % 50 == 0:
        bert.eval()
        with torch.no_grad():
            out = bert(val_in)
            known = val_lab != -100
            acc = (out.argmax(-1)[known] == val_lab[known]).float().mean().item()
            vloss = ce(out.flatten(0, 1), val_lab.flatten()).item()
        bert.train()
        print({"step": step + 1, "loss": round(sum(log[-50:]) / 50, 4), "eval_loss": round(vloss, 4), "eval_accuracy": round(acc, 4)})
print("final eval_accuracy:", round(acc, 4))
