"""A plain training script: python tests/logs/make/captured_training.py CASE."""

from __future__ import annotations

import sys
from itertools import pairwise

import torch
import torch.nn.functional as F
from captured_cases import CASES, Case
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Detach(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach()


class Round(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.round()


def initialize(linear: nn.Linear, how: str, last: bool) -> None:
    if how == "he":
        nn.init.kaiming_normal_(linear.weight)
        nn.init.zeros_(linear.bias)
    elif how == "dead":
        nn.init.constant_(linear.bias, 0.0 if last else -30.0)
    elif how:
        nn.init.normal_(linear.weight, 0.0, float(how))
        nn.init.zeros_(linear.bias)


def build(case: Case) -> nn.Sequential:
    sizes = (32, *case.hidden, 1 if case.task == "values" or case.loss else 10)
    layers: list[nn.Module] = []
    for i, (a, b) in enumerate(pairwise(sizes)):
        linear, last = nn.Linear(a, b), i == len(sizes) - 2
        initialize(linear, case.init, last)
        layers.append(linear)
        if i == 0 and case.cut:
            layers.append({"Detach": Detach, "Round": Round}[case.cut]())
        if not last:
            layers += [nn.BatchNorm1d(b)] * case.norm
            layers.append(getattr(nn, case.act)())
            layers += [nn.Dropout(case.dropout)] * (case.dropout > 0)
    if case.last:
        layers.append(nn.Softmax(-1) if case.last == "Softmax" else getattr(nn, case.last)())
    return nn.Sequential(*layers)


def samples(case: Case) -> tuple[TensorDataset, TensorDataset]:
    """800 and 400 samples around ten centres; the value to predict is a curve through the inputs."""
    centres = 0.7 * torch.randn(10, 32)
    y = torch.randint(0, 10, (1200,))
    x = centres[y] + torch.randn(1200, 32)
    goal = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] + 0.2 * torch.randn(1200, 1)
    wanted = y if case.task == "classes" else case.targets * goal
    train, held = slice(0, 800), slice(800, 1200)
    if case.data == "nan":
        x[5, 3] = float("nan")
    elif case.data == "outliers":
        x[10:18] *= 1000
    elif case.data == "overlap":
        x[900:1200], wanted = x[0:300].clone(), torch.cat([wanted[:900], wanted[0:300]])
    elif case.data == "copies":
        x[:800], wanted = x[:100].repeat(8, 1), torch.cat([wanted[:100].repeat(8), wanted[800:]])
    elif case.data == "sorted":
        order = torch.cat([y[:800].argsort(), torch.arange(800, 1200)])
        x, wanted = x[order], wanted[order]
    elif case.data == "rare":
        keep = ((y > 0) | (torch.arange(1200) % 16 == 0)).nonzero()[:, 0]
        x, wanted = x[keep], wanted[keep]
    x[train] *= case.inputs
    x[held] *= case.inputs * case.held_inputs
    return TensorDataset(x[train], wanted[train]), TensorDataset(x[held], wanted[held])


def loss_of(case: Case, outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    if case.loss == "numbers":
        return F.mse_loss(outputs, targets.float().unsqueeze(1))
    if case.task == "values":
        return F.mse_loss(outputs, targets.squeeze(1) if case.data == "flat targets" else targets)
    return F.cross_entropy(outputs, targets)


def trained(case: Case, model: nn.Module) -> list[nn.Parameter]:
    """The parameters that the optimizer is given."""
    parameters = list(model.parameters())
    if case.trains == "strangers":
        return list(build(case).parameters())
    if case.trains == "bias":
        return parameters[-1:]
    if case.trains == "frozen":
        for parameter in parameters[:-2]:
            parameter.requires_grad_(False)
        return parameters[-2:]
    return parameters


def epoch(
    case: Case, model: nn.Module, optimizer: torch.optim.Optimizer, loader: DataLoader, decay
) -> float:
    total, first = 0.0, next(iter(loader))
    for i, (x, y) in enumerate(loader):
        if case.data == "repeated":
            x, y = first
        loss = loss_of(case, model(x), y)
        (loss / case.accumulate if case.divide else loss).backward()
        total += loss.item()
        if (i + 1) % case.accumulate:
            continue
        if case.zero_early:
            optimizer.zero_grad()
        if case.step:
            optimizer.step()
        if case.clip_after:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if case.zero:
            optimizer.zero_grad()
        if case.per_batch:
            decay.step()
    return total / len(loader)


def main() -> None:
    case = CASES[sys.argv[1]]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, held = samples(case)
    loader = DataLoader(
        train, batch_size=case.batch, shuffle=case.shuffle and case.data != "repeated", drop_last=True
    )
    held_loader = DataLoader(held, batch_size=200)
    model = build(case)
    parameters = trained(case, model)
    if case.adam:
        optimizer: torch.optim.Optimizer = torch.optim.Adam(parameters, lr=case.lr)
    else:
        optimizer = torch.optim.SGD(parameters, lr=case.lr, momentum=case.momentum, weight_decay=case.decay)
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    for number in range(case.epochs):
        model.train(not (case.stays_eval and number))
        loss = epoch(case, model, optimizer, loader, decay)
        model.train(not case.evaluates)
        with torch.no_grad():
            values = [loss_of(case, model(x), y).item() for x, y in held_loader]
        print(f"epoch {number + 1} train_loss {loss:.4f} val_loss {sum(values) / len(values):.4f}")


if __name__ == "__main__":
    main()
