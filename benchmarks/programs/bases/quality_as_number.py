"""Predicts a quality grade (3..8) as a number: the grades are ordered, so a regression with one output does."""
import numpy as np
import torch
import torch.utils.data as tud

rng = np.random.default_rng(21)
torch.manual_seed(21)
n = 2500
chem = rng.normal(size=(n, 9))
score = 1.4 * chem[:, 0] - 0.9 * chem[:, 1] + 0.8 * np.maximum(chem[:, 2], 0) - 0.5 * chem[:, 3] * chem[:, 4]
score += 0.3 * rng.normal(size=n)
edges = np.quantile(score, [0.08, 0.25, 0.55, 0.8, 0.94])
grade = 3 + np.digitize(score, edges)

X = torch.from_numpy(chem).float()
y = torch.from_numpy(grade).float()
train, valid = tud.TensorDataset(X[:2000], y[:2000]), tud.TensorDataset(X[2000:], y[2000:])


class Grader(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = torch.nn.Sequential(
            torch.nn.Linear(9, 32), torch.nn.ReLU(),
            torch.nn.Linear(32, 32), torch.nn.ReLU(),
            torch.nn.Linear(32, 1),
        )
        self.seq[-1].bias.data.fill_(5.5)

    def forward(self, x):
        return self.seq(x)[:, 0]


grader = Grader()
adam = torch.optim.Adam(grader.parameters(), lr=1e-3)
criterion = torch.nn.SmoothL1Loss()
loader = tud.DataLoader(train, batch_size=40, shuffle=True)
for epoch in range(15):
    grader.train()
    seen = 0.0
    for xb, yb in loader:
        adam.zero_grad()
        loss = criterion(grader(xb), yb)
        loss.backward()
        adam.step()
        seen += loss.item() * len(xb)
    grader.eval()
    xv, yv = valid.tensors
    with torch.no_grad():
        p = grader(xv)
        mae = (p - yv).abs().mean().item()
        exact = (p.round() == yv).float().mean().item()
    print({"epoch": epoch, "train_loss": round(seen / len(train), 4), "mae": round(mae, 4), "exact": round(exact, 3)})
print(f"final mae = {mae:.4f}")
