import torch
import torch.nn as nn

torch.manual_seed(44)
VOCAB, LENGTH, MICRO = 40, 12, 16
start = torch.randint(0, VOCAB, (3000, 1))
stride = torch.randint(1, 3, (3000, 1))
tokens = (start + stride * torch.arange(LENGTH)) % VOCAB


class NextToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 32)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.out = nn.Linear(64, VOCAB)

    def forward(self, t):
        return self.out(self.gru(self.emb(t))[0])


model = NextToken()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
step = 0
for epoch in range(3):
    for k, rows in enumerate(torch.randperm(2800).split(10)):
        out = model(tokens[rows, :-1])
        loss = loss_fn(out.flatten(0, 1), tokens[rows, 1:].flatten())
        loss.backward()
        if k % MICRO == MICRO - 1:
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 5 == 0:
                print({"step": step, "loss": round(loss.item(), 4)})
with torch.no_grad():
    val = loss_fn(model(tokens[2800:, :-1]).flatten(0, 1), tokens[2800:, 1:].flatten()).item()
print("final val loss", round(val, 4))
