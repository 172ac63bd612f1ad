import torch
import torch.nn as nn

torch.manual_seed(17)
V, T = 24, 20
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, batch_first=True, norm_first=False), 6, enable_nested_tensor=False)


class Sorter(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, 48), nn.Parameter(torch.randn(T, 48) * 0.1)
        self.enc = enc
        self.head = nn.Linear(48, V)

    def forward(self, x):
        return self.head(self.enc(self.tok(x) + self.pos))


model = Sorter()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
ce = nn.CrossEntropyLoss()
for step in range(250):
    x = torch.randint(0, V, (24, T))
    y = x.sort(1).values
    logits = model(x)
    loss = ce(logits.view(-1, V), y.view(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step:4d} | loss {loss.item():.4f}")
with torch.no_grad():
    x = torch.randint(0, V, (64, T))
    print("final", (model(x).argmax(-1) == x.sort(1).values).float().mean().item())
