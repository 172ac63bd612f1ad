import torch
import torch.nn as nn
import torch.nn.utils.parametrize as parametrize
from sklearn.datasets import make_moons

torch.manual_seed(84)


class TwoBit(nn.Module):
    """Weights on the four levels -1.5, -0.5, 0.5, 1.5 times a step of each row; gradients pass straight through."""

    def forward(self, w):
        step = w.detach().abs().mean(1, keepdim=True)
        q = (torch.clamp(torch.floor(w / step), -2, 1) + 0.5) * step
        return w + (q - w).detach()


x, y = make_moons(1600, noise=0.12, random_state=84)
x, y = torch.tensor(x).float(), torch.tensor(y).float()
lift = torch.randn(2, 24), torch.rand(24) * 6.28
feats = torch.cos(x @ lift[0] * 1.5 + lift[1])
model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
for layer in (model[0], model[2]):
    parametrize.register_parametrization(layer, "weight", TwoBit())
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
crit = nn.BCEWithLogitsLoss()
for epoch in range(20):
    s = 0.0
    for b in torch.randperm(1200).split(40):
        loss = crit(model(feats[b])[:, 0], y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        s += loss.item() / 30
    with torch.no_grad():
        z = model(feats[1200:])[:, 0]
        acc = ((z > 0).float() == y[1200:]).float().mean().item()
    print(epoch, "%.4f" % s, "%.4f" % crit(z, y[1200:]).item(), "%.4f" % acc, sep=",")
print("final accuracy,%.4f" % acc)
