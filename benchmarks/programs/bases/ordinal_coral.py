import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes

torch.manual_seed(48)
data = load_diabetes()
X = torch.tensor(data.data / data.data.std(0), dtype=torch.float32)
raw = torch.tensor(data.target, dtype=torch.float32)
levels = torch.quantile(raw, torch.tensor([0.25, 0.5, 0.75]))
stage = torch.bucketize(raw, levels)          # 0..3
extended = (stage[:, None] > torch.arange(3)).float()
p = torch.randperm(len(X), generator=torch.Generator().manual_seed(48))
tr, te = p[:340], p[340:]


class Coral(nn.Module):
    """One slope for all thresholds, a bias for each."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(10, 24), nn.Softplus(), nn.Linear(24, 1, bias=False))
        self.thresholds = nn.Parameter(torch.tensor([1.0, 0.0, -1.0]))

    def forward(self, x):
        return self.hidden(x) + self.thresholds


model = Coral()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
for epoch in range(30):
    model.train()
    for rows in tr[torch.randperm(len(tr))].split(20):
        logits = model(X[rows])
        loss = nn.functional.binary_cross_entropy_with_logits(logits, extended[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        train_loss = nn.functional.binary_cross_entropy_with_logits(model(X[tr]), extended[tr])
        test_logits = model(X[te])
        test_loss = nn.functional.binary_cross_entropy_with_logits(test_logits, extended[te])
        off = ((test_logits > 0).sum(1) - stage[te]).abs().float().mean()
    print(f"epoch {epoch + 1}/30 - loss: {train_loss:.4f} - val_loss: {test_loss:.4f} - val_stage_error: {off:.4f}")
print(f"final val_stage_error: {off:.4f}")
