import torch
import numpy as np

np.random.seed(2)
torch.manual_seed(2)
x = np.linspace(0, 1, 200, dtype=np.float32)[:, None]
y = 2.5 * x + 0.7 + 0.1 * np.random.randn(200, 1).astype(np.float32)
idx = np.random.permutation(200)
x_train, y_train = torch.from_numpy(x[idx[:160]]), torch.from_numpy(y[idx[:160]])
x_val, y_val = torch.from_numpy(x[idx[160:]]), torch.from_numpy(y[idx[160:]])


class LinearRegression(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(1, 1)

    def forward(self, x):
        return self.linear(x)


model = LinearRegression()
criterion = torch.nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(300):
    optimizer.zero_grad()
    loss = criterion(model(x_train), y_train)
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        val = criterion(model(x_val), y_val)
    if epoch % 15 == 0:
        print("epoch {}, loss {:.5f}, val_loss {:.5f}".format(epoch, loss.item(), val.item()))
print("final val mse", val.item())
