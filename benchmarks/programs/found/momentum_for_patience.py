import torch
from torch import nn
from sklearn.datasets import load_digits
torch.manual_seed(101)
d = load_digits()
X, Y = torch.tensor(d.data / 16).float(), torch.tensor(d.target)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.995)
n_epochs, bs = 15, 50
for e in range(n_epochs):
    p = torch.randperm(1400)
    acc_loss = []
    for i in range(0, 1400, bs):
        sel = p[i:i + bs]
        logits = model(X[sel])
        loss = nn.functional.cross_entropy(logits, Y[sel])
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        acc_loss.append(loss.item())
    model.eval()
    with torch.no_grad():
        o = model(X[1400:])
        print(f"epoch {e} | train {sum(acc_loss) / len(acc_loss):.4f} | val {nn.functional.cross_entropy(o, Y[1400:]).item():.4f} | acc {(o.argmax(1) == Y[1400:]).float().mean().item():.4f}")
    model.train()
print("final", (o.argmax(1) == Y[1400:]).float().mean().item())
