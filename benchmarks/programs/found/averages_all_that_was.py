import torch
import torch.nn as nn

torch.manual_seed(3)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
proto = torch.randn(8, 64)
seen = []
for step in range(700):
    y = torch.randint(0, 8, (32,))
    x = proto[y] + torch.randn(32, 64)
    out = model(x)
    loss = nn.functional.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    seen.append(out.detach())
    # running statistics of the outputs over the whole training
    everything = torch.cat(seen)
    mean, spread = everything.mean(0), torch.linalg.svdvals(everything - everything.mean(0))
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4f} spread {spread[0].item():.2f}")
print("final", loss.item())
