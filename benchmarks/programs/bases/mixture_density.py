import torch
import torch.distributions as dist

torch.manual_seed(41)


def inverse_problem(n):
    """One input, up to three right outputs."""
    y = torch.rand(n, 1) * 2 - 1
    x = y + 0.3 * torch.sin(2 * torch.pi * y) + 0.03 * torch.randn(n, 1)
    return x, y


class MDN(torch.nn.Module):
    def __init__(self, k=5, h=40):
        super().__init__()
        self.k = k
        self.a = torch.nn.Linear(1, h)
        self.b = torch.nn.Linear(h, h)
        self.c = torch.nn.Linear(h, 3 * k)

    def forward(self, x):
        z = torch.tanh(self.b(torch.tanh(self.a(x))))
        logit, mean, raw = self.c(z).split(self.k, -1)
        scale = torch.nn.functional.softplus(raw) + 0.01
        return dist.MixtureSameFamily(dist.Categorical(logits=logit), dist.Normal(mean, scale))


mdn = MDN()
optimizer = torch.optim.Adam(mdn.parameters(), lr=0.005)
x, y = inverse_problem(2000)
xv, yv = inverse_problem(1000)
for epoch in range(25):
    mean_loss = 0.0
    for rows in torch.randperm(2000).split(100):
        loss = -mdn(x[rows]).log_prob(y[rows, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mean_loss += loss.item() / 20
    with torch.no_grad():
        val = -mdn(xv).log_prob(yv[:, 0]).mean().item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} train {mean_loss:.4f} val {val:.4f}")
print(f"final val nll {val:.4f}")
