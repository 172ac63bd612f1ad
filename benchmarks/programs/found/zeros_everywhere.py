import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
d = load_digits()
ds = TensorDataset(torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target))


class TwoLayers(nn.Module):
    def __init__(self):
        super().__init__()
        self.w1, self.b1 = nn.Parameter(torch.zeros(64, 40)), nn.Parameter(torch.zeros(40))
        self.w2, self.b2 = nn.Parameter(torch.zeros(40, 10)), nn.Parameter(torch.zeros(10))

    def forward(self, x):
        return torch.tanh(x @ self.w1 + self.b1) @ self.w2 + self.b2


net = TwoLayers()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(10):
    right = 0
    for x, y in DataLoader(ds, batch_size=50, shuffle=True):
        out = net(x)
        loss = nn.functional.cross_entropy(out, y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy {right / len(ds):.4f}")
print(f"final accuracy {right / len(ds):.4f}")
