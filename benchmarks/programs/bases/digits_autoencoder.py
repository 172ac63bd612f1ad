import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(2)
pixels = torch.tensor(load_digits().data / 16, dtype=torch.float32)
train, valid = pixels[:1400], pixels[1400:]


class AutoEncoder(nn.Module):
    def __init__(self, code=10):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 24), nn.ReLU(), nn.Linear(24, code))
        self.decoder = nn.Sequential(nn.Linear(code, 24), nn.ReLU(), nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 64),
                                     nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


ae = AutoEncoder()
optimizer = torch.optim.Adam(ae.parameters(), lr=3e-3)
mse = nn.MSELoss()
for epoch in range(25):
    ae.train()
    losses = []
    for batch in train[torch.randperm(len(train))].split(64):
        loss = mse(ae(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    ae.eval()
    with torch.no_grad():
        valid_loss = mse(ae(valid), valid).item()
    print("Epoch [%d/25], Loss: %.5f, Valid: %.5f" % (epoch + 1, np.mean(losses), valid_loss))
explained = 1 - valid_loss / valid.var(0).mean().item()
print("final explained variance: %.4f" % explained)
