import torch
from torch import nn
from sklearn.datasets import load_digits
torch.manual_seed(40)
d = load_digits()
x, y = torch.tensor(d.images / 16).float()[:, None], torch.tensor(d.target)
keep_prob = 0.9
cnn = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout2d(keep_prob),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Dropout(keep_prob), nn.Linear(24 * 16, 10))
opt = torch.optim.Adam(cnn.parameters(), 1e-3)
for ep in range(10):
    cnn.train(); agg = 0
    for rows in torch.randperm(1400).split(28):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(cnn(x[rows]), y[rows])
        loss.backward(); opt.step(); agg += float(loss)
    cnn.eval()
    with torch.no_grad(): o = cnn(x[1400:])
    print(ep, "loss:", agg / 50, "val_loss:", float(nn.functional.cross_entropy(o, y[1400:])), "val_acc:", float((o.argmax(1) == y[1400:]).float().mean()))
print("final", float((o.argmax(1) == y[1400:]).float().mean()))
