"""PyTorch: a loop by hand."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from benchmarks.frames.cells import CLASSES, FEATURES, Arrays, Cell, arrays

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid}


def net(cell: Cell) -> nn.Sequential:
    layers: list[nn.Module] = []
    width = FEATURES
    for size in cell.hidden:
        dense = nn.Linear(width, size)
        nn.init.xavier_uniform_(dense.weight)
        nn.init.constant_(dense.bias, cell.bias)
        dense.weight.data.mul_(cell.scale)
        layers += [dense, *([nn.BatchNorm1d(size)] if cell.norm else []), ACTIVATIONS[cell.activation]()]
        layers += [nn.Dropout(cell.dropout)] if cell.dropout else []
        width = size
    layers += [nn.Linear(width, 1 if cell.loss == "numbers" else CLASSES)]
    return nn.Sequential(*layers, *([ACTIVATIONS[cell.answer]()] if cell.answer else []))


def sets_of(data: Arrays, cell: Cell) -> list[TensorDataset]:
    """What is trained on, and what is held out."""
    kind = torch.float32 if cell.loss == "numbers" else torch.int64
    pairs = ((data.x, data.y), (data.held_x, data.held_y))
    return [TensorDataset(torch.tensor(x), torch.tensor(y, dtype=kind)) for x, y in pairs]


def optimizer_of(cell: Cell, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    if cell.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=cell.rate)
    return torch.optim.SGD(parameters, lr=cell.rate, momentum=0.9)


def train(cell: Cell) -> None:
    torch.manual_seed(0)
    data = arrays(cell)
    sets = sets_of(data, cell)
    loader, held = DataLoader(sets[0], cell.batch, shuffle=True, drop_last=True), DataLoader(sets[1], 128)
    model = net(cell)
    if cell.frozen:
        for layer in list(model)[:-1]:
            layer.requires_grad_(False)
    loss_of = nn.MSELoss() if cell.loss == "numbers" else nn.CrossEntropyLoss()
    optimizer = optimizer_of(cell, model.parameters())
    steps = cell.epochs * len(loader)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps) if cell.cosine else None
    for _ in range(cell.epochs):
        model.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            optimizer.step()
            if schedule is not None:
                schedule.step()
        model.eval()
        with torch.no_grad():
            sum(float(loss_of(model(x), y)) for x, y in held)
