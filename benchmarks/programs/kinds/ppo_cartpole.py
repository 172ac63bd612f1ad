"""PPO on a cart with a pole, in the manner of CleanRL's single file; prints the table of Stable-Baselines3."""

import json
import time

import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

SEED = 1
ENVS, STEPS, UPDATES, EPOCHS, MINIBATCHES = 16, 64, 70, 4, 4
LR, GAMMA, LAMBDA, CLIP, ENT_COEF, VF_COEF, MAX_GRAD_NORM = 1e-3, 0.99, 0.95, 0.2, 0.01, 0.5, 0.5
REWARD = 1.0
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
        done = (abs(self.state[:, 0]) > 2.4) | (abs(self.state[:, 2]) > 0.2095) | (self.length >= 500)
        self.finished += list(self.length[done])
        self.state[done] = rng.uniform(-0.05, 0.05, (done.sum(), 4))
        self.length[done] = 0
        return self.state.astype("f4"), np.full(len(done), REWARD, "f4"), done.astype("f4")


def layer(inputs, outputs, std=2**0.5):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, std)
    nn.init.zeros_(made.bias)
    return made


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 2, 0.01))
        self.critic = nn.Sequential(layer(4, 64), nn.Tanh(), layer(64, 64), nn.Tanh(), layer(64, 1, 1.0))

    def forward(self, obs):
        return Categorical(logits=self.actor(obs)), self.critic(obs).squeeze(-1)


def table(groups):
    rows = []
    for group, values in groups.items():
        rows.append((group + "/", ""))
        rows += [("   " + name, f"{value:.3g}" if isinstance(value, float) else str(value)) for name, value in values.items()]
    print("-" * 45)
    for name, value in rows:
        print(f"| {name:<24} | {value:<14} |")
    print("-" * 45, flush=True)


def evaluate(agent, episodes=20):
    env = CartPole(episodes)
    while len(env.finished) < episodes:
        with torch.no_grad():
            dist, _ = agent(torch.as_tensor(env.state, dtype=torch.float32))
        env.step(dist.sample().numpy())
    return float(np.mean(env.finished[:episodes]))


agent = Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=LR, eps=1e-5)
env = CartPole(ENVS)
obs, done = torch.as_tensor(env.state, dtype=torch.float32), torch.zeros(ENVS)
start = time.time()
for update in range(1, UPDATES + 1):
    optimizer.param_groups[0]["lr"] = LR * (1 - (update - 1) / UPDATES)
    store = {name: [] for name in ("obs", "action", "logprob", "reward", "done", "value")}
    for _ in range(STEPS):
        with torch.no_grad():
            dist, value = agent(obs)
        action = dist.sample()
        after, reward, ended = env.step(action.numpy())
        row = (obs, action, dist.log_prob(action), torch.as_tensor(reward), torch.as_tensor(ended), value)
        for name, item in zip(store, row):
            store[name].append(item)
        obs = torch.as_tensor(after)
    data = {name: torch.stack(items) for name, items in store.items()}
    with torch.no_grad():
        _, last = agent(obs)
        advantages, running = torch.zeros(STEPS, ENVS), torch.zeros(ENVS)
        for t in reversed(range(STEPS)):
            following = last if t == STEPS - 1 else data["value"][t + 1]
            alive = 1 - data["done"][t]
            delta = data["reward"][t] + GAMMA * following * alive - data["value"][t]
            running = delta + GAMMA * LAMBDA * alive * running
            advantages[t] = running
        returns = advantages + data["value"]
    flat = {name: items.flatten(0, 1) for name, items in data.items()}
    flat["advantage"], flat["return"] = advantages.flatten(), returns.flatten()
    logged = []
    for _ in range(EPOCHS):
        for rows in torch.randperm(STEPS * ENVS).chunk(MINIBATCHES):
            dist, value = agent(flat["obs"][rows])
            logratio = dist.log_prob(flat["action"][rows]) - flat["logprob"][rows]
            ratio = logratio.exp()
            advantage = flat["advantage"][rows]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            policy_loss = -torch.min(advantage * ratio, advantage * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            value_loss = ((value - flat["return"][rows]) ** 2).mean()
            entropy = dist.entropy().mean()
            loss = policy_loss + VF_COEF * value_loss - ENT_COEF * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), MAX_GRAD_NORM)
            optimizer.step()
            with torch.no_grad():
                kl = ((ratio - 1) - logratio).mean()
                clipped = ((ratio - 1).abs() > CLIP).float().mean()
            logged.append([kl.item(), clipped.item(), -entropy.item(), loss.item(), policy_loss.item(), value_loss.item()])
    kl, clipped, entropy_loss, total, policy_loss, value_loss = np.mean(logged, 0).tolist()
    spread = float(1 - (flat["return"] - flat["value"]).var() / (flat["return"].var() + 1e-8))
    lengths = env.finished[-100:] or [0]
    table({
        "rollout": {"ep_len_mean": float(np.mean(lengths)), "ep_rew_mean": float(np.mean(lengths) * REWARD)},
        "time": {"fps": int(update * STEPS * ENVS / (time.time() - start)), "iterations": update,
                 "time_elapsed": int(time.time() - start), "total_timesteps": update * STEPS * ENVS},
        "train": {"approx_kl": kl, "clip_fraction": clipped, "clip_range": CLIP, "entropy_loss": entropy_loss,
                  "explained_variance": spread, "learning_rate": optimizer.param_groups[0]["lr"], "loss": total,
                  "n_updates": update * EPOCHS, "policy_gradient_loss": policy_loss, "value_loss": value_loss},
    })
json.dump({"mean episode": evaluate(agent)}, open("check.json", "w"))
