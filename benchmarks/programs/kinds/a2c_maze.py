"""Advantage actor-critic in a maze of 6 x 6, with one result of RLlib's names a line (result.json)."""

import json

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SEED = 1
ENVS, STEPS, ITERATIONS = 32, 8, 600
LR, GAMMA, ENTROPY_COEFF, VF_LOSS_COEFF, GRAD_CLIP = 2e-3, 0.97, 0.01, 0.5, 0.5
GOAL, STEP_COST = 10.0, -0.1
SIZE, WALLS = 6, {(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 1), (4, 1), (4, 4), (3, 5)}
MOVES = ((-1, 0), (1, 0), (0, -1), (0, 1))
torch.manual_seed(SEED)
rng = np.random.default_rng(SEED)


class Maze:
    """Start anywhere free, find the lower right corner within 60 moves."""

    def __init__(self, n):
        self.at, self.length, self.total, self.finished = [self.start() for _ in range(n)], [0] * n, [0.0] * n, []

    def start(self):
        while True:
            place = tuple(rng.integers(0, SIZE, 2).tolist())
            if place not in WALLS and place != (SIZE - 1, SIZE - 1):
                return place

    def observe(self):
        seen = np.zeros((len(self.at), SIZE * SIZE), "f4")
        for i, (row, column) in enumerate(self.at):
            seen[i, row * SIZE + column] = 1.0
        return torch.as_tensor(seen)

    def step(self, actions):
        rewards, ends = [], []
        for i, action in enumerate(actions.tolist()):
            to = (self.at[i][0] + MOVES[action][0], self.at[i][1] + MOVES[action][1])
            if to not in WALLS and 0 <= min(to) and max(to) < SIZE:
                self.at[i] = to
            found = self.at[i] == (SIZE - 1, SIZE - 1)
            reward = GOAL if found else STEP_COST
            self.length[i] += 1
            self.total[i] += reward
            end = found or self.length[i] >= 60
            if end:
                self.finished.append((self.total[i], self.length[i]))
                self.at[i], self.length[i], self.total[i] = self.start(), 0, 0.0
            rewards.append(reward)
            ends.append(float(end))
        return torch.tensor(rewards), torch.tensor(ends)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.ReLU())
        self.policy, self.value = nn.Linear(64, 4), nn.Linear(64, 1)

    def forward(self, x):
        hidden = self.body(x)
        return Categorical(logits=self.policy(hidden)), self.value(hidden).squeeze(-1)


net = ActorCritic()
optimizer = torch.optim.RMSprop(net.parameters(), lr=LR, alpha=0.99, eps=1e-5)
env = Maze(ENVS)
obs = env.observe()
for iteration in range(1, ITERATIONS + 1):
    logprobs, entropies, values, rewards, dones = [], [], [], [], []
    for _ in range(STEPS):
        dist, value = net(obs)
        action = dist.sample()
        reward, done = env.step(action)
        logprobs.append(dist.log_prob(action))
        entropies.append(dist.entropy())
        values.append(value)
        rewards.append(reward)
        dones.append(done)
        obs = env.observe()
    with torch.no_grad():
        running, returns = net(obs)[1], []
        for reward, done in zip(reversed(rewards), reversed(dones)):
            running = reward + GAMMA * running * (1 - done)
            returns.insert(0, running)
    returns, values, logprobs = torch.stack(returns), torch.stack(values), torch.stack(logprobs)
    advantages = returns - values.detach()
    advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
    policy_loss = -(logprobs * advantages).mean()
    vf_loss = ((values - returns) ** 2).mean()
    entropy = torch.stack(entropies).mean()
    total_loss = policy_loss + VF_LOSS_COEFF * vf_loss - ENTROPY_COEFF * entropy
    optimizer.zero_grad()
    total_loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), GRAD_CLIP)
    optimizer.step()
    if iteration % 10 == 0:
        last = env.finished[-100:]
        print(json.dumps({
            "episode_reward_mean": float(np.mean([total for total, _ in last] or [float("nan")])),
            "episode_len_mean": float(np.mean([length for _, length in last] or [float("nan")])),
            "episodes_total": len(env.finished), "timesteps_total": iteration * STEPS * ENVS,
            "training_iteration": iteration,
            "info": {"learner": {"default_policy": {"learner_stats": {
                "policy_loss": policy_loss.item(), "vf_loss": vf_loss.item(), "policy_entropy": entropy.item(),
                "total_loss": total_loss.item(), "grad_gnorm": norm.item(), "cur_lr": LR}}}},
        }), flush=True)
env = Maze(100)
while len(env.finished) < 200:
    with torch.no_grad():
        dist, _ = net(env.observe())
    env.step(dist.sample())
json.dump({"found within 60": float(np.mean([length < 60 for _, length in env.finished[:200]])),
           "mean moves": float(np.mean([length for _, length in env.finished[:200]]))}, open("check.json", "w"))
