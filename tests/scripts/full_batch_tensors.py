"""No loader, no batches: the whole data set every step, evaluated on training and held-out data."""

import json

import torch
import torch.nn.functional as F

torch.manual_seed(6)
x = torch.randn(150, 7)
y = x[:, :4].argmax(dim=1)
x_train, y_train, x_val, y_val = x[:100], y[:100], x[100:].clone(), y[100:].clone()
net = torch.nn.Sequential(torch.nn.Linear(7, 20), torch.nn.LeakyReLU(), torch.nn.Linear(20, 4))
opt = torch.optim.NAdam(net.parameters(), lr=0.02)
truth = {"loss": [], "lr": [], "val_loss": []}
for step in range(1, 51):
    net.train()
    loss = F.cross_entropy(net(x_train), y_train)
    opt.zero_grad()
    loss.backward()
    opt.step()
    truth["loss"].append(loss.item())
    truth["lr"].append(0.02)
    if step % 10 == 0:
        net.eval()
        with torch.no_grad():
            val = F.cross_entropy(net(x_val), y_val).item()
        truth["val_loss"].append(val)
        print(step, loss.item(), val)
torch.save(net.state_dict(), "weights.pt")
json.dump(truth, open("truth.json", "w"))
