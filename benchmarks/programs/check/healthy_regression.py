# full batch, plain tensors
import torch
from sets import diabetes, standardized

torch.manual_seed(3)
X, t = diabetes()
t = standardized(t).unsqueeze(1)
Xtr, ttr, Xte, tte = X[:330], t[:330], X[330:], t[330:]
net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
lossf = torch.nn.MSELoss()
for i in range(600):
    opt.zero_grad()
    loss = lossf(net(Xtr), ttr)
    loss.backward()
    opt.step()
    if i % 50 == 0:
        with torch.no_grad():
            print(i, loss.item(), lossf(net(Xte), tte).item())
