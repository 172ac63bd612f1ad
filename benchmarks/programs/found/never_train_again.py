import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import TensorDataset, DataLoader
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split

torch.manual_seed(17)
X, y = make_classification(900, 40, n_informative=10, n_redundant=5, flip_y=0.03, class_sep=0.8, random_state=17)
Xa, Xb, ya, yb = train_test_split(X.astype(np.float32), y, test_size=0.35, random_state=1)
loader = DataLoader(TensorDataset(torch.from_numpy(Xa), torch.from_numpy(ya)), batch_size=32, shuffle=True)

net = nn.Sequential(nn.Linear(40, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Dropout(0.5),
                    nn.Linear(256, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 2))
loss_fn = nn.CrossEntropyLoss()
opt = optim.Adam(net.parameters(), lr=1e-3)

def validate():
    net.eval()
    with torch.no_grad():
        out = net(torch.from_numpy(Xb))
        return loss_fn(out, torch.from_numpy(yb)).item(), (out.argmax(1).numpy() == yb).mean()

net.train()
for epoch in range(40):
    tot = 0
    for xb, t in loader:
        opt.zero_grad()
        l = loss_fn(net(xb), t)
        l.backward()
        opt.step()
        tot += l.item()
    v, a = validate()
    print("[%2d] train %.4f  valid %.4f  acc %.3f" % (epoch, tot / len(loader), v, a))
print("final accuracy %.4f" % a)
