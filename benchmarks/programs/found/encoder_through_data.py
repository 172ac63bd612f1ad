import torch
from torch import nn

torch.manual_seed(29)


class TwoStage(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(30, 12), nn.Tanh(), nn.Linear(12, 3), nn.Tanh())
        self.decoder = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 30))
        self.codes = []

    def forward(self, x):
        code = self.encoder(x).data      # keep the code for plotting
        self.codes = code
        return self.decoder(code)


basis = torch.randn(3, 30)
x = torch.tanh(torch.randn(2000, 3) @ basis)
net = TwoStage()
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(15):
    for k in torch.randperm(1600).split(64):
        loss = ((net(x[k]) - x[k]) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        v = ((net(x[1600:]) - x[1600:]) ** 2).mean().item()
    print("epoch %d, reconstruction %.4f, held out %.4f" % (epoch, loss.item(), v))
print("final", v)
