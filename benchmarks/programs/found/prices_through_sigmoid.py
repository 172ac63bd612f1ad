import torch
from sklearn.datasets import make_regression

torch.manual_seed(4)
X, y = make_regression(600, 8, noise=5.0, random_state=4)
X, y = torch.tensor(X, dtype=torch.float32), torch.tensor(y + 500, dtype=torch.float32)[:, None]
net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1), torch.nn.Sigmoid())
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(25):
    running = 0.0
    for k in range(0, 480, 16):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(X[k:k + 16]), y[k:k + 16])
        loss.backward()
        optimizer.step()
        running += loss.item() / 30
    val = torch.nn.functional.mse_loss(net(X[480:]), y[480:]).item()
    print("Epoch {}: loss={:.2f} val_loss={:.2f}".format(epoch, running, val))
print("final val_loss={:.2f}".format(val))
