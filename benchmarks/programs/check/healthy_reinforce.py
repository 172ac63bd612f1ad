import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(43)
policy = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
best = torch.randn(6, 4)
baseline = 0.0
for episode in range(600):
    state = torch.randn(32, 6)
    choice = Categorical(logits=policy(state))
    action = choice.sample()
    reward = (action == (state @ best).argmax(1)).float() + 0.1 * torch.randn(32)
    loss = -(choice.log_prob(action) * (reward - baseline)).mean() - 0.01 * choice.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.95 * baseline + 0.05 * reward.mean().item()
    if episode % 50 == 0:
        print(f"episode {episode} reward {baseline:.3f}")
