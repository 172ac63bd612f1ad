import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Shared(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 64), nn.LayerNorm(64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.heads = nn.ModuleDict({"kind": nn.Linear(64, 5), "size": nn.Linear(64, 1)})

    def forward(self, x):
        h = self.trunk(x)
        return {name: head(h) for name, head in self.heads.items()}


torch.manual_seed(44)
x = torch.randn(1600, 20)
kind = (x @ torch.randn(20, 5)).argmax(1)
size = torch.tanh(x[:, :3].sum(1)) + 0.1 * torch.randn(1600)
loader = DataLoader(TensorDataset(x, kind, size), batch_size=64, shuffle=True, num_workers=0)
model = Shared()
optimizer = torch.optim.NAdam(
    [{"params": model.trunk.parameters()}, {"params": model.heads.parameters(), "lr": 4e-3}], lr=2e-3
)
for epoch in range(12):
    for features, label, amount in loader:
        out = model(features)
        first = nn.functional.cross_entropy(out["kind"], label)
        second = nn.functional.mse_loss(out["size"].squeeze(-1), amount)
        loss = first + 0.5 * second
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {first.item():.3f} {second.item():.3f}")
