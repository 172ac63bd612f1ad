"""A recurrent net on sequences, clipped, hidden state carried and detached."""

import json

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(13)
text = torch.randint(0, 12, (8, 16 * 30))


class CharRNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(12, 16)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, 12)

    def forward(self, tokens, state=None):
        hidden, state = self.rnn(self.embed(tokens), state)
        return self.out(hidden), state


model = CharRNN()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
state, losses = None, []
for start in range(0, 16 * 29, 16):
    window = text[:, start : start + 17]
    logits, state = model(window[:, :-1], state)
    state = state.detach()
    loss = criterion(logits.reshape(-1, 12), window[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    clip_grad_norm_(model.parameters(), max_norm=0.25)
    optimizer.step()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [2e-3] * len(losses)}, open("truth.json", "w"))
