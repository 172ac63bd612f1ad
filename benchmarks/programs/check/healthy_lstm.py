import torch
import torch.nn as nn
from sets import text

torch.manual_seed(1)
stream = text()
data = stream[: 16 * (len(stream) // 16)].view(16, -1)


class CharRNN(nn.Module):
    def __init__(self, vocab=27, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.out = nn.Linear(width, vocab)

    def forward(self, x, state=None):
        h, state = self.rnn(self.embed(x), state)
        return self.out(h), state


model = CharRNN()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
T = 32
for epoch in range(6):
    state = None
    for i in range(0, data.size(1) - T - 1, T):
        x, y = data[:, i : i + T], data[:, i + 1 : i + T + 1]
        if state is not None:
            state = tuple(s.detach() for s in state)
        logits, state = model(x, state)
        loss = nn.functional.cross_entropy(logits.reshape(-1, 27), y.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(epoch, loss.item())
