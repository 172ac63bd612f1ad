# the adding problem: two marked numbers of a sequence are to be added
import torch

torch.manual_seed(7)
T = 20


def batch(n):
    values = torch.rand(n, T)
    marks = torch.zeros(n, T)
    first = torch.randint(0, T // 2, (n,))
    second = torch.randint(T // 2, T, (n,))
    marks[torch.arange(n), first] = 1
    marks[torch.arange(n), second] = 1
    return torch.stack([values, marks], 2), (values * marks).sum(1, keepdim=True)


class Adder(torch.nn.Module):
    def __init__(self, h=32):
        super().__init__()
        self.lstm = torch.nn.LSTM(2, h, batch_first=True)
        self.linear = torch.nn.Linear(h, 1)

    def forward(self, x):
        out, (h, c) = self.lstm(x)
        return self.linear(h[-1])


adder = Adder()
opt = torch.optim.Adam(adder.parameters(), lr=0.01)
test_x, test_y = batch(500)
for i in range(500):
    x, y = batch(64)
    loss = torch.mean((adder(x) - y) ** 2)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(adder.parameters(), 1.0)
    opt.step()
    if i % 50 == 49:
        with torch.no_grad():
            print(i + 1, "train mse", round(loss.item(), 5), "test mse", round(torch.mean((adder(test_x) - test_y) ** 2).item(), 5))
with torch.no_grad():
    print("final test mse", round(torch.mean((adder(test_x) - test_y) ** 2).item(), 6))
