"""A short training of a copy of a model, recorded as `traindx run` records a script's.

For `traindx.check(model, loss, loader)`. The model, the loader's samples and the random state of the caller
are not changed."""

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map

from traindx.capture.process.patches import Lines
from traindx.capture.session import Stream
from traindx.capture.torch.backend import torch_session
from traindx.capture.torch.checks.last_step import Live
from traindx.capture.torch.checks.probes import run_probes
from traindx.capture.torch.discover.discovery import Discovery

Optimizers = Callable[[Iterable[torch.nn.Parameter]], torch.optim.Optimizer]
PERMUTED = 64  # batches among whose samples labels are permuted
SEED = 0


class Rehearsal:
    """Trains `loss(model(inputs), targets)` over the batches of `loader`, each (inputs, targets)."""

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
                    run_probes(live, stream, session)
            finally:
                discovery.end()
                session.close()

    def train(self, steps: int, change: str) -> None:
        """A plain training loop."""
        model = copy.deepcopy(self.model)
        model.train()
        optimizer = self.optimizer(model.parameters())
        for _, (inputs, targets) in zip(range(steps), self.batches(change), strict=False):
            optimizer.zero_grad()
            self.loss(model(inputs), targets).backward()
            optimizer.step()

    def batches(self, change: str) -> Iterator[tuple[Any, Any]]:
        """Batches, endlessly. Raises TypeError where they are not pairs of inputs and targets."""
        if change == "permuted labels":
            yield from permute_targets(self.loader)
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
                    "the loader has no batch (left): it must be possible to iterate over it again"
                )


def blank(inputs: Any) -> Any:
    """Inputs without information."""
    return tree_map(lambda part: torch.zeros_like(part) if isinstance(part, torch.Tensor) else part, inputs)


def permute_targets(loader: Any) -> Iterator[tuple[Any, Any]]:
    """The first batches, endlessly, with their targets permuted once among all samples."""
    first = [batch for batch, _ in zip(loader, range(PERMUTED), strict=False)]
    targets = [t for _, t in first]
    if not all(isinstance(t, torch.Tensor) and t.dim() for t in targets):
        raise TypeError("targets that are not tensors cannot be permuted")
    every = torch.cat(targets)
    mixed = every[torch.randperm(len(every), device=every.device)].split([len(t) for t in targets])
    while True:
        yield from ((inputs, target) for (inputs, _), target in zip(first, mixed, strict=True))
