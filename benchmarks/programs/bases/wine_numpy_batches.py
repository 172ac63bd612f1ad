import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

torch.manual_seed(1)
rs = np.random.RandomState(1)
x, y = load_wine(return_X_y=True)
shuffle = rs.permutation(len(x))
x, y = x[shuffle], y[shuffle]
tr_x, te_x = x[:130], x[130:]
tr_y, te_y = y[:130], y[130:]
scaler = StandardScaler().fit(tr_x)
tr_x = scaler.transform(tr_x)
te_x = scaler.transform(te_x)


class WineNet(torch.nn.Module):
    def __init__(self):
        super(WineNet, self).__init__()
        self.hidden = torch.nn.Linear(13, 24)
        self.output = torch.nn.Linear(24, 3)

    def forward(self, inputs):
        h = torch.tanh(self.hidden(inputs))
        return torch.log_softmax(self.output(h), dim=1)


def batches(xs, ys, size):
    p = rs.permutation(len(xs))
    for s in range(0, len(xs), size):
        yield torch.FloatTensor(xs[p[s:s + size]]), torch.LongTensor(ys[p[s:s + size]])


wine_net = WineNet()
nll = torch.nn.NLLLoss()
sgd = torch.optim.SGD(wine_net.parameters(), lr=0.05)
for it in range(60):
    losses = []
    for bx, by in batches(tr_x, tr_y, 16):
        sgd.zero_grad()
        l = nll(wine_net(bx), by)
        l.backward()
        sgd.step()
        losses.append(l.item())
    if it % 10 == 9:
        with torch.no_grad():
            test_pred = wine_net(torch.FloatTensor(te_x)).argmax(1).numpy()
        print("iter", it + 1, "nll", np.mean(losses), "test accuracy", (test_pred == te_y).mean())
print("FINAL accuracy", (test_pred == te_y).mean())
