# advantage actor-critic on a cart-pole, physics by hand, many carts at a time
import math

import torch
import torch.nn as nn

torch.manual_seed(23)
ENVS, HORIZON, UPDATES, GAMMA = 16, 16, 220, 0.98


class CartPoles:
    def __init__(self, n):
        self.state = torch.rand(n, 4) * 0.1 - 0.05
        self.age = torch.zeros(n)

    def step(self, action):
        x, xd, th, thd = self.state.unbind(1)
        force = torch.where(action == 1, 10.0, -10.0)
        temp = (force + 0.05 * thd ** 2 * th.sin()) / 1.1
        tha = (9.8 * th.sin() - th.cos() * temp) / (0.5 * (4 / 3 - 0.1 * th.cos() ** 2 / 1.1))
        xa = temp - 0.05 * tha * th.cos() / 1.1
        self.state = torch.stack([x + 0.02 * xd, xd + 0.02 * xa, th + 0.02 * thd, thd + 0.02 * tha], 1)
        self.age += 1
        fallen = (self.state[:, 0].abs() > 2.4) | (self.state[:, 2].abs() > 12 * math.pi / 180)
        over = fallen | (self.age >= 200)
        lengths = self.age[over].tolist()
        self.state[over] = torch.rand(int(over.sum()), 4) * 0.1 - 0.05
        self.age[over] = 0
        return fallen, over, lengths


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh())
        self.actor, self.critic = nn.Linear(64, 2), nn.Linear(64, 1)

    def forward(self, s):
        h = self.body(s)
        return torch.distributions.Categorical(logits=self.actor(h)), self.critic(h).squeeze(-1)


agent = ActorCritic()
optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)
poles = CartPoles(ENVS)
finished = []
for update in range(UPDATES):
    logps, values, ends, entropies = [], [], [], []
    for _ in range(HORIZON):
        policy, value = agent(poles.state * torch.tensor([1.0, 0.5, 5.0, 0.5]))
        action = policy.sample()
        fallen, over, lengths = poles.step(action)
        finished += lengths
        logps.append(policy.log_prob(action))
        values.append(value)
        entropies.append(policy.entropy())
        ends.append((fallen.float(), over.float()))
    with torch.no_grad():
        _, ahead = agent(poles.state * torch.tensor([1.0, 0.5, 5.0, 0.5]))
    returns = []
    for fallen, over in reversed(ends):
        ahead = (1 - fallen) + GAMMA * ahead * (1 - over)
        returns.insert(0, ahead / 10)
    returns, values = torch.stack(returns), torch.stack(values) / 10
    advantage = (returns - values).detach()
    actor_loss = -(torch.stack(logps) * (advantage - advantage.mean()) / (advantage.std() + 1e-6)).mean()
    critic_loss = (returns - values).pow(2).mean()
    loss = actor_loss + critic_loss - 0.01 * torch.stack(entropies).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
    optimizer.step()
    if update % 20 == 19:
        print(f"update {update + 1} loss {loss.item():+.4f} length {sum(finished[-30:]) / max(1, len(finished[-30:])):.1f}")
print(f"final episode length {sum(finished[-40:]) / len(finished[-40:]):.1f}")
