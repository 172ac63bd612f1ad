"""A recurrent net without clipping, under a rate that rises too far: its gradient explodes. Needs only torch.

traindx run --out runs/rnn -- python examples/record_exploding_rnn.py
traindx gradients runs/rnn
traindx run -- python examples/record_exploding_rnn.py --clip 1       learns
"""

import argparse

import torch
from torch import nn


class Adder(nn.Module):
    """Reads a sequence of numbers and says what they add up to."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(1, 32)
        self.recur = nn.RNN(32, 32, nonlinearity="relu", batch_first=True)
        self.head = nn.Linear(32, 1)
        nn.init.eye_(self.recur.weight_hh_l0)
        nn.init.normal_(self.recur.weight_ih_l0, std=0.05)

    def forward(self, x):
        return self.head(self.recur(self.embed(x.unsqueeze(-1)))[0][:, -1]).squeeze(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.03)
    parser.add_argument("--clip", type=float)
    parser.add_argument("--steps", type=int, default=500)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = Adder()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.01, 1.0, total_iters=args.steps)
    for step in range(1, args.steps + 1):
        numbers = torch.randn(32, 30)
        loss = nn.functional.mse_loss(model(numbers), numbers.sum(1) / 6)
        optimizer.zero_grad()
        loss.backward()
        if args.clip:
            nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
