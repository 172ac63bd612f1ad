"""The logging module, to stderr; accuracy is computed by hand and only logged."""

import json
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
log = logging.getLogger("train")

torch.manual_seed(3)
x = torch.randn(360, 10)
y = (x[:, 0] * x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:300], y[:300]), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
truth = {"loss": [], "lr": [], "val_acc": []}
for epoch in range(4):
    for inputs, labels in train:
        loss = criterion(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        truth["loss"].append(loss.item())
        truth["lr"].append(0.01)
    with torch.no_grad():
        accuracy = (model(x[300:]).argmax(1) == y[300:]).float().mean().item()
    truth["val_acc"].append(accuracy)
    log.info("epoch %d train_loss %.4f val_acc %.4f", epoch + 1, loss.item(), accuracy)
torch.save(model.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
