from pathlib import Path

import torch
import torch.nn.functional as F
from model import Classifier
from ruamel.yaml import YAML
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def load_config(path="conf.yaml"):
    return YAML(typ="safe").load(Path(path))


def get_loaders(cfg):
    bunch = load_digits()
    x = torch.tensor(bunch.data, dtype=torch.float32) / 16
    y = torch.tensor(bunch.target)
    order = torch.randperm(len(x))
    held = cfg["data"]["holdout"]
    train = TensorDataset(x[order[held:]], y[order[held:]])
    test = TensorDataset(x[order[:held]], y[order[:held]])
    return DataLoader(train, batch_size=cfg["data"]["batch_size"], shuffle=True), DataLoader(test, batch_size=200)


def evaluate(model, loader):
    model.eval()
    loss, right, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            right += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, right / n


def main():
    torch.manual_seed(21)
    cfg = load_config()
    train_loader, test_loader = get_loaders(cfg)
    model = Classifier(cfg["model"]["hidden"], cfg["model"]["dropout"])
    opt = cfg["optim"]
    optimizer = torch.optim.SGD(
        model.parameters(), lr=opt["lr"], momentum=opt["momentum"], weight_decay=opt["weight_decay"]
    )
    for epoch in range(cfg["epochs"]):
        model.train()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        val_loss, val_acc = evaluate(model, test_loader)
        print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val_loss:.4f} val_acc {val_acc:.4f}")
    print(f"final accuracy {val_acc:.4f}")


if __name__ == "__main__":
    main()
