"""The next value of a noisy wave from the last 32. Something is wrong with how it trains."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

SEED, EPOCHS, LOOK = 3, 25, 32


class Forecast(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(LOOK, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, 1)

    def forward(self, past):
        return self.head(self.layers(past)).squeeze(-1)


def windows(n=1600):
    """`n` windows past[n, LOOK] of a wave of two tones, and the value after each."""
    t = torch.arange(n + LOOK, dtype=torch.float32)
    noise = 0.1 * torch.randn(len(t), generator=torch.Generator().manual_seed(0))
    wave = torch.sin(t / 5) + 0.5 * torch.sin(t / 1.7) + noise
    return wave.unfold(0, LOOK + 1, 1)[:n, :LOOK], wave.unfold(0, LOOK + 1, 1)[:n, LOOK]


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        errors = [
            nn.functional.mse_loss(model(past), after, reduction="sum").item() for past, after in loader
        ]
    return sum(errors) / len(loader.dataset)


def train(model, loader, optimizer):
    model.train()
    for past, after in loader:
        loss = nn.functional.mse_loss(model(past), after)
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(SEED)
past, after = windows()
loader = DataLoader(TensorDataset(past[:1200], after[:1200]), 40, shuffle=True)
held_out = DataLoader(TensorDataset(past[1200:], after[1200:]), 200)
model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(EPOCHS):
    loss = train(model, loader, optimizer)
    print(f"epoch {epoch} loss {loss:.4f} val_loss {evaluate(model, held_out):.4f}")
