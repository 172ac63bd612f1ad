"""Healthy scripts of other shapes: a policy gradient, whose loss says nothing, and two nets that play each other."""

from __future__ import annotations

REINFORCE = """
import torch
import torch.nn as nn

torch.manual_seed(SEED)
CELLS, EPISODES, UPDATES, LENGTH = 8, 16, 200, 24
policy = nn.Sequential(nn.Linear(CELLS, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)


def play(episodes):
    place = torch.randint(0, CELLS - 1, (episodes,))
    total, alive, logs = torch.zeros(episodes), torch.ones(episodes), []
    for _ in range(LENGTH):
        choice = torch.distributions.Categorical(logits=policy(nn.functional.one_hot(place, CELLS).float()))
        action = choice.sample()
        logs.append(choice.log_prob(action) * alive)
        moved = torch.where(torch.rand(episodes) < 0.1, -1, 2 * action - 1)
        place = (place + moved * alive.long()).clamp(0, CELLS - 1)
        total += alive * torch.where(place == CELLS - 1, 1.0, -0.03)
        alive = alive * (place < CELLS - 1)
    return torch.stack(logs).sum(0), total


for update in range(1, UPDATES + 1):
    logs, rewards = play(EPISODES)
    loss = -(logs * (rewards - rewards.mean())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 2 == 0:
        print(f"update {update} | policy_loss {loss.item():.4f} | mean_reward {rewards.mean().item():.3f}")
with torch.no_grad():
    score = play(400)[1].mean().item()
"""
ADVERSARIAL = """
import torch
import torch.nn as nn

torch.manual_seed(SEED)
EPOCHS, BATCHES = 12, 60
generator = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
critic = nn.Sequential(nn.Linear(1, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.5, 0.999))
of_critic = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(128, 1), torch.zeros(128, 1)
for epoch in range(EPOCHS):
    for i in range(BATCHES):
        real = 1.5 + 0.5 * torch.randn(128, 1)
        fake = generator(torch.randn(128, 4))
        of_critic.zero_grad()
        loss_d = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
        loss_d.backward()
        of_critic.step()
        of_generator.zero_grad()
        loss_g = criterion(critic(fake), ones)
        loss_g.backward()
        of_generator.step()
        if i % 10 == 0:
            print(f"[{epoch}/{EPOCHS}][{i}/{BATCHES}] Loss_D: {loss_d.item():.4f} Loss_G: {loss_g.item():.4f}")
with torch.no_grad():
    made = generator(torch.randn(2000, 4))
score = 1 - min(1.0, abs(made.mean().item() - 1.5))
"""
