# %% [markdown]
# Can a GRU add up a sequence of small numbers?

# %%
import torch
from torch import nn, optim

torch.manual_seed(12)

# %%
def make(n, length=12):
    x = torch.rand(n, length, 1)
    return x, x.sum(1) / length ** 0.5

x_train, y_train = make(1000)
x_val, y_val = make(300)
mean, std = y_train.mean(), y_train.std()

# %%
class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 24, batch_first=True)
        self.head = nn.Linear(24, 1)

    def forward(self, x):
        _, h = self.gru(x)
        return self.head(h[-1])

net = Adder()
loss_fn = nn.MSELoss()
optimizer = optim.Adam(net.parameters(), lr=5e-3)

# %%
history = []
for epoch in range(12):
    perm = torch.randperm(1000)
    for i in range(0, 1000, 50):
        idx = perm[i:i + 50]
        optimizer.zero_grad()
        loss = loss_fn(net(x_train[idx]), (y_train[idx] - mean) / std)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
    with torch.no_grad():
        val_loss = loss_fn(net(x_val), (y_val - mean) / std).item()
    print(f'epoch {epoch}: train {history[-1]:.4f} val {val_loss:.4f}')

# %%
print(f'final val loss: {val_loss:.4f}')
