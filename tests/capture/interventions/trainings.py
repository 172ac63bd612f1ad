"""Two trainings written as people write them, and the same changes made natively inside of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import torch
from torch import nn

Optimizer = Any


class Native:
    """A change that the loop makes itself, before its step and after it."""

    def before(self, step: int, optimizer: Optimizer) -> None:
        """Gradients are there."""

    def after(self, step: int, optimizer: Optimizer) -> None:
        """They have been used."""


class Setting(Native):
    """Another value of a group's setting during the step: `new(step, number of the group, own value)`."""

    def __init__(self, key: str, new: Callable[[int, int, Any], Any]) -> None:
        self.key, self.new = key, new

    def before(self, step: int, optimizer: Optimizer) -> None:
        self.own = [group[self.key] for group in optimizer.param_groups]
        for i, group in enumerate(optimizer.param_groups):
            group[self.key] = self.new(step, i, self.own[i])

    def after(self, step: int, optimizer: Optimizer) -> None:
        for group, own in zip(optimizer.param_groups, self.own, strict=True):
            group[self.key] = own


class Gradients(Native):
    """Something done to the gradients."""

    def __init__(self, change: Callable[[list[torch.Tensor]], Any]) -> None:
        self.change = change

    def before(self, step: int, optimizer: Optimizer) -> None:
        self.change([p for group in optimizer.param_groups for p in group["params"] if p.grad is not None])


def batches(count: int, spoiled: int | None = None) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    for i in range(count):
        x = torch.randn(16, 4)
        y = (x[:, 0] > x[:, 1]).long()
        yield (x.fill_(float("inf")) if i == spoiled else x), y


DEFAULTS = {"lr": 0.1, "momentum": 0.9}


def plain(
    native: Native | None = None,
    *,
    kind: str = "SGD",
    settings: dict[str, Any] | None = None,
    steps: int = 8,
    spoiled: int | None = None,
    skips: bool = False,
    zero: bool = True,
    micro: int = 1,
    divide: int = 1,
    every: int = 1,
    frozen: bool = False,
    seed: int = 5,
    cast: torch.dtype | None = None,
    model_cast: torch.dtype | None = None,
) -> list[Any]:
    """A loop in one function; every setting is one that a script may have. Returns losses, rates, weights."""
    native = native or Native()
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    if frozen:
        model[0].requires_grad_(False)
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = getattr(torch.optim, kind)(trained, **(DEFAULTS if settings is None else settings))
    seen: list[Any] = []
    for i, (x, y) in enumerate(batches(steps, spoiled)):
        if zero and i % every == 0:
            optimizer.zero_grad()
        for inputs, labels in zip(x.chunk(micro), y.chunk(micro), strict=True):
            with torch.autocast("cpu", cast) if cast else nullcontext():
                with torch.autocast("cpu", model_cast) if model_cast else nullcontext():
                    out = model(inputs)
                loss = nn.functional.cross_entropy(out.float() if model_cast else out, labels) / divide
            loss.backward()
        native.before(i, optimizer)
        if not (skips and i == spoiled) and (i + 1) % every == 0:
            optimizer.step()
        native.after(i, optimizer)
        seen += [loss.item(), *(group["lr"] for group in optimizer.param_groups)]
    return [seen, [p.detach().clone() for p in model.parameters()]]


class Trainer:
    """A class with groups, a schedule, clipping, dropout, batch norm and validation."""

    def __init__(self, native: Native | None = None, **options: Any) -> None:
        self.native, self.options = native or Native(), options
        torch.manual_seed(6)
        first = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.3))
        self.model = nn.ModuleDict({"body": first, "head": nn.Linear(12, 2)})
        if options.get("frozen"):
            self.model["body"].requires_grad_(False)
        given = options.get("settings", {"weight_decay": 0.05})
        free = {"weight_decay": 0.0} if "weight_decay" in given else {}
        parts = [(self.model["head"], {}), (self.model["body"], {"lr": 0.01, **free})]
        groups = [
            {"params": list(part.parameters()), **more}
            for part, more in parts[: 2 - bool(options.get("frozen"))]
        ]
        self.optimizer = getattr(torch.optim, options.get("kind", "AdamW"))(groups, lr=0.02, **given)
        self.schedule = torch.optim.lr_scheduler.StepLR(self.optimizer, 3, gamma=0.5)
        self.loss, self.logged = nn.CrossEntropyLoss(), []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model["head"](self.model["body"](x))

    def step(self, i: int, x: torch.Tensor, y: torch.Tensor) -> None:
        loss = self.loss(self.forward(x), y)
        loss.backward()
        limit = self.options.get("limit", 0.2)
        if limit is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), limit)
        self.native.before(i, self.optimizer)
        if not self.options.get("skips") or i != self.options.get("spoiled"):
            self.optimizer.step()
        self.native.after(i, self.optimizer)
        if self.options.get("zero", True):
            self.model.zero_grad()
        self.schedule.step()
        self.logged += [loss.item(), *(group["lr"] for group in self.optimizer.param_groups)]

    def validate(self, x: torch.Tensor, y: torch.Tensor) -> None:
        if self.options.get("evaluates", True):
            self.model.eval()
        with torch.no_grad():
            self.logged.append(self.loss(self.forward(x), y).item())
        if self.options.get("returns", True):
            self.model.train()

    def fit(self) -> list[Any]:
        held_out = next(batches(1))
        for i, (x, y) in enumerate(batches(8, self.options.get("spoiled"))):
            self.step(i, x, y)
            if i % 3 == 2:
                self.validate(*held_out)
        return [self.logged, [p.detach().clone() for p in self.model.state_dict().values()]]


def trainer(native: Native | None = None, **options: Any) -> list[Any]:
    return Trainer(native, **options).fit()
