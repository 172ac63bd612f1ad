import torch
from sets import scaled_digits

torch.manual_seed(6)
X, Y = scaled_digits(1200)
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD([list(model.parameters())[-1]], lr=0.1)
for step in range(500):
    rows = torch.randint(0, 1200, (64,))
    loss = torch.nn.functional.cross_entropy(model(X[rows]), Y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(step, loss.item())
