import torch
import torch.nn as nn

torch.manual_seed(99)
net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.02)
proj = torch.randn(256, 10)
history = {"loss": [], "logits": []}
for step in range(350):
    x = torch.randn(256, 256)
    y = (x @ proj).argmax(1)
    logits = net(x)
    loss = nn.functional.cross_entropy(logits, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    history["loss"].append(loss)
    history["logits"].append((logits * 1.0, torch.softmax(logits, 1).pow(2) + net[0](x).relu().mean()))
    if step % 25 == 0:
        print("step", step, "loss", loss.item())
print("final", sum(l.item() for l in history["loss"][-20:]) / 20)
