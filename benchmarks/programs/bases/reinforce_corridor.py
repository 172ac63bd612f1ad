"""REINFORCE on a windy corridor: walk right to the goal, every step costs."""
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(1)
LENGTH, LIMIT = 8, 40
gen = torch.Generator().manual_seed(1)


class Corridor:
    def reset(self):
        self.at, self.t = 0, 0
        return self.observe()

    def observe(self):
        o = torch.zeros(LENGTH + 1)
        o[self.at] = 1
        return o

    def step(self, action):
        move = 1 if action == self.at % 2 else -1
        if torch.rand(1, generator=gen).item() < 0.1:
            move = -move
        self.at = min(LENGTH, max(0, self.at + move))
        self.t += 1
        done = self.at == LENGTH or self.t >= LIMIT
        return self.observe(), (10.0 if self.at == LENGTH else -1.0), done


policy = nn.Sequential(nn.Linear(LENGTH + 1, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env, baseline, returns = Corridor(), 0.0, []
for episode in range(300):
    obs, logps, rewards, done = env.reset(), [], [], False
    while not done:
        pi = Categorical(logits=policy(obs))
        a = pi.sample()
        logps.append(pi.log_prob(a))
        obs, r, done = env.step(a.item())
        rewards.append(r)
    g, gs = 0.0, []
    for r in reversed(rewards):
        g = r + 0.98 * g
        gs.insert(0, g)
    gs = torch.tensor(gs)
    returns.append(sum(rewards))
    baseline = 0.95 * baseline + 0.05 * gs.mean().item()
    advantage = (gs - baseline) / 10
    loss = -(torch.stack(logps) * advantage).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if episode % 20 == 19:
        print(f"episode {episode + 1} loss {loss.item():.4f} mean return {sum(returns[-20:]) / 20:.2f}")
print(f"final mean return: {sum(returns[-50:]) / 50:.2f}")
