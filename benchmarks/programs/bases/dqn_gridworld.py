import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(101)
torch.manual_seed(101)
Transition = namedtuple("Transition", "s a r s2 done")
WALLS = {(1, 1), (2, 1), (3, 3), (1, 3)}
GOAL, SIZE = (4, 4), 5
MOVES = [(0, 1), (1, 0), (0, -1), (-1, 0)]


def encode(pos):
    v = torch.zeros(SIZE * SIZE)
    v[pos[0] * SIZE + pos[1]] = 1.0
    return v


def move(pos, a):
    new = (pos[0] + MOVES[a][0], pos[1] + MOVES[a][1])
    if not (0 <= new[0] < SIZE and 0 <= new[1] < SIZE) or new in WALLS:
        new = pos
    return new, (1.0 if new == GOAL else -0.04), new == GOAL


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(SIZE * SIZE, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, s):
        return self.fc2(F.relu(self.fc1(s)))


q, target = QNet(), QNet()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=2e-3)
memory = deque(maxlen=3000)
steps = 0


def learn(batch_size=32, gamma=0.95):
    batch = Transition(*zip(*random.sample(memory, batch_size)))
    s, s2 = torch.stack(batch.s), torch.stack(batch.s2)
    a, r, done = torch.tensor(batch.a), torch.tensor(batch.r), torch.tensor(batch.done, dtype=torch.float)
    now = q(s).gather(1, a[:, None]).squeeze(1)
    with torch.no_grad():
        best = target(s2).max(1).values
    loss = F.smooth_l1_loss(now, r + gamma * best * (1 - done))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def greedy_success():
    wins = 0
    starts = [(i, j) for i in range(SIZE) for j in range(SIZE) if (i, j) not in WALLS and (i, j) != GOAL]
    for pos in starts:
        for _ in range(12):
            with torch.no_grad():
                pos, _, done = move(pos, q(encode(pos)).argmax().item())
            if done:
                wins += 1
                break
    return wins / len(starts)


for episode in range(120):
    pos, loss, total = (random.randrange(SIZE), 0), None, 0.0
    eps = max(0.05, 1 - episode / 60)
    for _ in range(25):
        with torch.no_grad():
            a = random.randrange(4) if random.random() < eps else q(encode(pos)).argmax().item()
        new, r, done = move(pos, a)
        memory.append(Transition(encode(pos), a, r, encode(new), done))
        pos, total = new, total + r
        if len(memory) >= 200:
            loss = learn()
            steps += 1
            if steps % 100 == 0:
                target.load_state_dict(q.state_dict())
        if done:
            break
    if episode % 10 == 9 and loss is not None:
        print(f"episode {episode + 1:3d}  eps {eps:.2f}  loss {loss:.5f}  return {total:.2f}  success {greedy_success():.2f}")
print(f"final success rate: {greedy_success():.3f}")
