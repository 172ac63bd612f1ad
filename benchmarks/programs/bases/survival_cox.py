"""Cox proportional hazards with a network: negative partial log-likelihood, judged by concordance."""
import numpy as np
import torch

rng = np.random.default_rng(83)
torch.manual_seed(83)
n = 1500
covariates = rng.normal(size=(n, 8))
risk = 1.2 * covariates[:, 0] - 0.8 * covariates[:, 1] + np.abs(covariates[:, 2])
time = rng.exponential(np.exp(-risk))
censor = rng.exponential(2.0, n)
event = (time <= censor).astype(np.float32)
time = np.minimum(time, censor)
x = torch.tensor(covariates, dtype=torch.float32)
t = torch.tensor(time, dtype=torch.float32)
d = torch.tensor(event)
print(f"{event.mean():.0%} of the times are events")


def cox_loss(log_risk, times, events):
    order = torch.argsort(times, descending=True)
    log_risk, events = log_risk[order], events[order]
    log_total = torch.logcumsumexp(log_risk, 0)
    return -((log_risk - log_total) * events).sum() / events.sum().clamp(min=1)


def concordance(log_risk, times, events):
    earlier = (times[:, None] < times[None, :]) & (events[:, None] > 0)
    higher = log_risk[:, None] > log_risk[None, :]
    return (earlier & higher).sum().item() / earlier.sum().item()


net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.SELU(), torch.nn.AlphaDropout(0.1), torch.nn.Linear(32, 32),
                          torch.nn.SELU(), torch.nn.Linear(32, 1, bias=False))
opt = torch.optim.Adam(net.parameters(), lr=2e-3, weight_decay=1e-4)
for epoch in range(25):
    net.train()
    batch_losses = []
    for b in torch.randperm(1100).split(100):
        loss = cox_loss(net(x[b])[:, 0], t[b], d[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        batch_losses.append(loss.item())
    net.eval()
    with torch.no_grad():
        r = net(x[1100:])[:, 0]
        c = concordance(r, t[1100:], d[1100:])
    if epoch % 2 == 0:
        print(f"epoch {epoch}: partial likelihood loss {np.mean(batch_losses):.4f}, concordance {c:.4f}")
print(f"final concordance: {c:.4f}")
