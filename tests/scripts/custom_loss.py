"""A loss module and an optimizer class of the script's own."""

import json

import torch
from torch import nn


class Focal(nn.Module):
    def forward(self, logits, targets):
        log = torch.log_softmax(logits, 1).gather(1, targets[:, None]).squeeze(1)
        return (-((1 - log.exp()) ** 2) * log).mean()


class SignSGD(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                p.add_(p.grad.sign(), alpha=-group["lr"])


torch.manual_seed(19)
x = torch.randn(200, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.SiLU(), nn.Linear(16, 3))
criterion, optimizer = Focal(), SignSGD(model.parameters(), lr=0.004)
losses = []
for _ in range(40):
    i = torch.randperm(200)[:40]
    loss = criterion(model(x[i]), y[i])
    model.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
torch.save(model.state_dict(), "weights.pt")
json.dump({"loss": losses, "lr": [0.004] * 40}, open("truth.json", "w"))
