"""DQN on a cart with a pole, in the manner of CleanRL; prints its scalars every 1,000 steps."""

import json

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

SEED = 1
ENVS, STEPS, WARM = 8, 4000, 1000
LR, GAMMA, BATCH, BUFFER, TARGET_EVERY = 1e-3, 0.99, 128, 20000, 50
START_E, END_E, EXPLORATION = 1.0, 0.05, 0.5
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


class CartPole:
    """The classic control problem, many at once; an episode ends after 500 steps."""

    def __init__(self, n):
        self.state, self.length = rng.uniform(-0.05, 0.05, (n, 4)), np.zeros(n, int)
        self.finished = []

    def step(self, action):
        x, v, angle, spin = self.state.T
        force = np.where(action == 1, 10.0, -10.0)
        cos, sin = np.cos(angle), np.sin(angle)
        pull = (force + 0.05 * spin**2 * sin) / 1.1
        turn = (9.8 * sin - cos * pull) / (0.5 * (4 / 3 - 0.1 * cos**2 / 1.1))
        push = pull - 0.05 * turn * cos / 1.1
        self.state = np.stack([x + 0.02 * v, v + 0.02 * push, angle + 0.02 * spin, spin + 0.02 * turn], 1)
        self.length += 1
        fallen = (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.2095)
        over, after = fallen | (self.length >= 500), self.state.copy()
        self.finished += list(self.length[over])
        self.state[over] = rng.uniform(-0.05, 0.05, (over.sum(), 4))
        self.length[over] = 0
        return after.astype("f4"), np.ones(len(over), "f4"), fallen.astype("f4")


class ReplayBuffer:
    def __init__(self, size):
        self.size, self.used, self.place = size, 0, 0
        self.obs, self.after = np.zeros((size, 4), "f4"), np.zeros((size, 4), "f4")
        self.action, self.reward, self.done = np.zeros(size, int), np.zeros(size, "f4"), np.zeros(size, "f4")

    def add(self, obs, action, reward, after, done):
        for row in zip(obs, action, reward, after, done):
            self.obs[self.place], self.action[self.place], self.reward[self.place] = row[:3]
            self.after[self.place], self.done[self.place] = row[3:]
            self.place, self.used = (self.place + 1) % self.size, min(self.used + 1, self.size)

    def sample(self, n):
        rows = rng.integers(0, self.used, n)
        return [torch.as_tensor(a[rows]) for a in (self.obs, self.action, self.reward, self.after, self.done)]


def network():
    return nn.Sequential(nn.Linear(4, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 2))


def linear_schedule(step):
    return max(END_E, START_E + (END_E - START_E) * step / (EXPLORATION * STEPS))


q_network, target_network = network(), network()
target_network.load_state_dict(q_network.state_dict())
optimizer = torch.optim.Adam(q_network.parameters(), lr=LR)
buffer, env = ReplayBuffer(BUFFER), CartPole(ENVS)
obs = env.state.astype("f4")
for step in range(1, STEPS + 1):
    epsilon = linear_schedule(step)
    with torch.no_grad():
        best = q_network(torch.as_tensor(obs)).argmax(1).numpy()
    action = np.where(rng.random(ENVS) < epsilon, rng.integers(0, 2, ENVS), best)
    after, reward, done = env.step(action)
    buffer.add(obs, action, reward, after, done)
    obs = env.state.astype("f4")
    if step * ENVS < WARM:
        continue
    if True:
        s, a, r, after, done = buffer.sample(BATCH)
        with torch.no_grad():
            td_target = r + GAMMA * target_network(after).max(1).values * (1 - done)
        old_val = q_network(s).gather(1, a[:, None]).squeeze(1)
        loss = F.mse_loss(old_val, td_target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if step % TARGET_EVERY == 0:
        target_network.load_state_dict(q_network.state_dict())
    if step % 100 == 0:
        print(f"global_step={step * ENVS}, charts/episodic_return={np.mean(env.finished[-20:]):.2f}, "
              f"losses/td_loss={loss.item():.5g}, losses/q_values={old_val.mean().item():.5g}, "
              f"charts/epsilon={epsilon:.3f}", flush=True)  # fmt: skip
env = CartPole(20)
while len(env.finished) < 20:
    with torch.no_grad():
        env.step(q_network(torch.as_tensor(env.state.astype("f4"))).argmax(1).numpy())
json.dump({"mean episode": float(np.mean(env.finished[:20]))}, open("check.json", "w"))
