import torch
from torch import nn

torch.manual_seed(60)
W = torch.randn(5, 4)
policy = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
optim = torch.optim.Adam(policy.parameters(), lr=3e-3)
baseline = 0.0
for it in range(400):
    ctx = torch.randn(64, 5)
    dist = torch.distributions.Categorical(logits=policy(ctx))
    act = dist.sample()
    reward = (ctx @ W).gather(1, act[:, None])[:, 0] + 0.3 * torch.randn(64)
    loss = -(dist.log_prob(act) * (reward - baseline)).mean() - 0.01 * dist.entropy().mean()
    optim.zero_grad()
    loss.backward()
    optim.step()
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    if it % 20 == 0:
        print(f"iter {it} policy_loss {loss.item():.4f} mean_reward {reward.mean().item():.4f}")
ctx = torch.randn(2000, 5)
best = (ctx @ W).max(1).values.mean().item()
got = (ctx @ W).gather(1, policy(ctx).argmax(1, keepdim=True)).mean().item()
print("final share of the best", got / best)
