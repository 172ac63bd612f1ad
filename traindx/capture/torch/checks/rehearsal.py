"""A short training of a copy of a model, recorded as `traindx run` records a script's.

For `traindx.check(model, loss, loader)`: the model, the loader's samples and the random state of the
caller are left as they are.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch

from traindx.capture.process.patches import Lines
from traindx.capture.session.stream import Stream
from traindx.capture.torch.backend import torch_session
from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.checks.probes import look_at
from traindx.capture.torch.discover.discovery import Discovery

Optimizers = Callable[[Iterable[torch.nn.Parameter]], torch.optim.Optimizer]
KEPT = 64  # batches that labels are permuted among
SEED = 0


class Rehearsal:
    """What is trained: `loss(model(inputs), targets)` over the batches of `loader`, each (inputs, targets)."""

    def __init__(
        self,
        model: torch.nn.Module,
        loss: Callable[..., Any],
        loader: Any,
        optimizer: Optimizers | None = None,
    ) -> None:
        self.model, self.loss, self.loader = model, loss, loader
        self.optimizer = optimizer or (lambda parameters: torch.optim.Adam(parameters, lr=1e-3))

    def run(self, out: Path, steps: int, change: str = "", *, probes: bool = False) -> None:
        """Train a copy of the model for some steps; the record goes to `out`. `change`: "one batch", "one
        blank batch", "permuted labels"; anything else changes nothing."""
        session = torch_session(out, patient=True)
        stream = Stream(lambda: session, Lines(os.getcwd()), lambda _: None, lambda stage, **more: None)
        discovery = Discovery(stream)
        live = Live(stream) if probes else None
        devices = sorted({p.device.index or 0 for p in self.model.parameters() if p.device.type == "cuda"})
        with torch.random.fork_rng(devices=devices), torch.enable_grad():
            torch.manual_seed(SEED)
            discovery.attach()
            try:
                self.train(steps, change)
                if live is not None:
                    look_at(live, stream, session)
            finally:
                discovery.end()
                session.close()

    def train(self, steps: int, change: str) -> None:
        """The loop, as anyone would write it."""
        model = copy.deepcopy(self.model)
        model.train()
        optimizer = self.optimizer(model.parameters())
        for _, (inputs, targets) in zip(range(steps), self.batches(change), strict=False):
            optimizer.zero_grad()
            self.loss(model(inputs), targets).backward()
            optimizer.step()

    def batches(self, change: str) -> Iterator[tuple[Any, Any]]:
        """Batches without end. Raises TypeError where they are no pairs of inputs and targets."""
        if change == "permuted labels":
            yield from permuted(self.loader)
        first: tuple[Any, Any] | None = None
        while True:
            seen = 0
            for batch in self.loader:
                seen += 1
                if not isinstance(batch, list | tuple) or len(batch) != 2:
                    raise TypeError("the loader must give pairs: (inputs, targets)")
                inputs, targets = batch
                if change in ("one batch", "one blank batch"):
                    first = first or (inputs if change == "one batch" else blank(inputs), targets)
                    while True:
                        yield first
                yield inputs, targets
            if not seen:
                raise TypeError(
                    "the loader gives no batch (any more): it must be possible to go through it again"
                )


def blank(inputs: Any) -> Any:
    """Inputs without information."""
    if isinstance(inputs, torch.Tensor):
        return torch.zeros_like(inputs)
    if isinstance(inputs, dict):
        return {name: blank(value) for name, value in inputs.items()}
    return type(inputs)(blank(value) for value in inputs) if isinstance(inputs, list | tuple) else inputs


def permuted(loader: Any) -> Iterator[tuple[Any, Any]]:
    """The first batches over and over, their targets permuted among all of their samples, once and for all."""
    kept = [batch for batch, _ in zip(loader, range(KEPT), strict=False)]
    targets = [t for _, t in kept]
    if not all(isinstance(t, torch.Tensor) and t.dim() for t in targets):
        raise TypeError("targets that are no tensors cannot be permuted")
    whole = torch.cat(targets)
    mixed = whole[torch.randperm(len(whole), device=whole.device)].split([len(t) for t in targets])
    while True:
        yield from ((inputs, target) for (inputs, _), target in zip(kept, mixed, strict=True))
