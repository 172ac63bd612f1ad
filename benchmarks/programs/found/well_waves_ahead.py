import math
import torch
from torch import nn

torch.manual_seed(88)
series = torch.tensor([math.sin(0.1 * t) + 0.5 * math.sin(0.037 * t) for t in range(1500)]) + 0.05 * torch.randn(1500)
windows = series.unfold(0, 25, 1)
past, ahead = windows[:, :24, None], windows[:, 24:]
split = 1200
class F(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, 32, batch_first=True)
        self.fc = nn.Linear(32, 1)
    def forward(self, z):
        return self.fc(self.lstm(z)[0][:, -1])
f = F()
opt = torch.optim.Adam(f.parameters(), lr=5e-3)
for ep in range(8):
    f.train()
    for k in torch.randperm(split).split(48):
        opt.zero_grad()
        l = nn.functional.mse_loss(f(past[k]), ahead[k])
        l.backward()
        opt.step()
    f.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(f(past[split:]), ahead[split:])
    print(f"epoch: {ep} loss: {l.item():.5f} val_loss: {v.item():.5f}")
print("final", v.item())
