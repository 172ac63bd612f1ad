# character model with nn.TransformerEncoder
import torch
import torch.nn as nn

torch.manual_seed(6)
text = ("the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. "
        "how vexingly quick daft zebras jump! sphinx of black quartz, judge my vow. ") * 40
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text])
gen = torch.Generator().manual_seed(1)
noise = torch.rand(len(data), generator=gen) < 0.15
data[noise] = torch.randint(0, len(chars), (int(noise.sum()),), generator=gen)
train, val = data[:5000], data[5000:]
BLOCK, BATCH = 32, 16


def get_batch(source):
    ix = torch.randint(len(source) - BLOCK - 1, (BATCH,))
    x = torch.stack([source[i:i + BLOCK] for i in ix])
    y = torch.stack([source[i + 1:i + BLOCK + 1] for i in ix])
    return x, y


class CharTransformer(nn.Module):
    def __init__(self, vocab, d_model=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.position = nn.Embedding(BLOCK, d_model)
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model, 4, 128, 0.0, batch_first=True), 2)
        self.lm_head = nn.Linear(d_model, vocab)

    def forward(self, idx):
        h = self.embed(idx) + self.position(torch.arange(idx.shape[1]))
        return self.lm_head(self.blocks(h))


model = CharTransformer(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for step in range(600):
    xb, yb = get_batch(train)
    logits = model(xb)
    loss = nn.functional.cross_entropy(logits.reshape(-1, len(chars)), yb.reshape(-1))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 60 == 0 or step == 599:
        model.eval()
        with torch.no_grad():
            xv, yv = get_batch(val)
            vl = nn.functional.cross_entropy(model(xv).reshape(-1, len(chars)), yv.reshape(-1)).item()
        model.train()
        print(f"step {step}: train loss {loss.item():.4f}, val loss {vl:.4f}")
print("final val loss", vl)
