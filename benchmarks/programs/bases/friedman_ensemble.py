import torch
from sklearn.datasets import make_friedman1

torch.manual_seed(30)


class Member(torch.nn.Module):
    def __init__(self, d_in, d_hidden=40):
        super().__init__()
        self.l1 = torch.nn.Linear(d_in, d_hidden)
        self.l2 = torch.nn.Linear(d_hidden, d_hidden)
        self.l3 = torch.nn.Linear(d_hidden, 1)

    def forward(self, x):
        x = torch.nn.functional.gelu(self.l1(x))
        x = torch.nn.functional.gelu(self.l2(x))
        return self.l3(x).squeeze(-1)


def fit_member(x, y, epochs=25, lr=3e-3):
    net = Member(x.shape[1])
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr, weight_decay=1e-3)
    boot = torch.randint(0, len(x), (len(x),))
    x, y = x[boot], y[boot]
    for epoch in range(epochs):
        for part in torch.randperm(len(x)).split(50):
            residual = net(x[part]) - y[part]
            loss = residual.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("member fitted, last batch mse", round(loss.item(), 4))
    return net


x, y = make_friedman1(n_samples=1500, n_features=8, noise=0.5, random_state=30)
x = torch.as_tensor(x, dtype=torch.float32) * 2 - 1
y = torch.as_tensor(y, dtype=torch.float32)
center, scale = y[:1000].mean(), y[:1000].std()
z = (y - center) / scale

members = [fit_member(x[:1000], z[:1000]) for _ in range(4)]
with torch.no_grad():
    guesses = torch.stack([m(x[1000:]) for m in members])
    guess = guesses.mean(0) * scale + center
    rmse = (guess - y[1000:]).pow(2).mean().sqrt().item()
print("disagreement", round(guesses.std(0).mean().item(), 4))
print("final rmse", round(rmse, 4))
