from statistics import mean, stdev

import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold
from torch import nn, optim

torch.manual_seed(10)
iris = load_iris()


def make_model():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))


def train_fold(x_tr, y_tr, epochs=40):
    model = make_model()
    opt = optim.Adam(model.parameters(), lr=0.01)
    model.train()
    for e in range(epochs):
        perm = torch.randperm(len(x_tr))
        epoch_loss = 0.0
        for j in range(0, len(x_tr), 16):
            sel = perm[j:j + 16]
            loss = nn.functional.cross_entropy(model(x_tr[sel]), y_tr[sel])
            opt.zero_grad()
            loss.backward()
            opt.step()
            epoch_loss += loss.item() * len(sel)
        if e % 10 == 9:
            print(f"   epoch {e + 1} loss {epoch_loss / len(x_tr):.4f}")
    return model


scores = []
folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=10)
for k, (tr, te) in enumerate(folds.split(iris.data, iris.target)):
    mu, sigma = iris.data[tr].mean(0), iris.data[tr].std(0)
    x_tr = torch.tensor((iris.data[tr] - mu) / sigma, dtype=torch.float32)
    x_te = torch.tensor((iris.data[te] - mu) / sigma, dtype=torch.float32)
    y_tr, y_te = torch.tensor(iris.target[tr]), torch.tensor(iris.target[te])
    print("fold", k)
    model = train_fold(x_tr, y_tr)
    model.eval()
    with torch.no_grad():
        acc = (model(x_te).argmax(1) == y_te).float().mean().item()
    print(f"   accuracy {acc:.3f}")
    scores.append(acc)

print(f"spread over folds {stdev(scores):.3f}")
print(f"final cross-validated accuracy: {mean(scores):.4f}")
