# multi-horizon forecasts of several sensors with one MLP, trained on random windows
import numpy as np
import torch

rng = np.random.default_rng(66)
torch.manual_seed(66)
T, C, PAST, AHEAD = 1500, 4, 36, 8
t = np.arange(T)
sensors = np.zeros((T, C))
for c in range(C):
    p1, p2 = rng.uniform(16, 30), rng.uniform(50, 90)
    sensors[:, c] = np.sin(2 * np.pi * t / p1 + c) + 0.6 * np.sin(2 * np.pi * t / p2) + 0.15 * rng.standard_normal(T)
sensors = torch.tensor((sensors - sensors[:1100].mean(0)) / sensors[:1100].std(0), dtype=torch.float32)
cut = 1100


def get_windows(starts):
    past = torch.stack([sensors[s:s + PAST] for s in starts])
    future = torch.stack([sensors[s + PAST:s + PAST + AHEAD] for s in starts])
    return past, future


class NLinear(torch.nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.skip = torch.nn.Linear(PAST * C, AHEAD * C)
        self.mlp = torch.nn.Sequential(torch.nn.Linear(PAST * C, width), torch.nn.ReLU(), torch.nn.Linear(width, AHEAD * C))

    def forward(self, past):
        last = past[:, -1:]
        flat = (past - last).flatten(1)
        return last + (self.skip(flat) + self.mlp(flat)).view(-1, AHEAD, C)


net = NLinear()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=1e-2)
vp, vf = get_windows(range(cut, T - PAST - AHEAD, 3))
print("persistence mae", (vp[:, -1:] - vf).abs().mean().item())
ema = None
for step in range(600):
    past, future = get_windows(rng.integers(0, cut - PAST - AHEAD, 32))
    loss = torch.nn.functional.huber_loss(net(past), future, delta=1.0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema = loss.item() if ema is None else 0.95 * ema + 0.05 * loss.item()
    if (step + 1) % 60 == 0:
        with torch.no_grad():
            mae = (net(vp) - vf).abs().mean().item()
        print(f"step={step + 1:4d} smoothed_loss={ema:.4f} val_mae={mae:.4f}")
print(f"final val_mae={mae:.4f}")
