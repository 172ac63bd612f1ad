"""Checkpoints that are loaded: what they contain, and which parts of them the resumed training restores.

`torch.load` shows what a checkpoint contains, `load_state_dict` what is restored. Only a model that is
trained afterwards counts: loading weights for an evaluation, for a teacher or for an average is not a
resume."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import torch

from traindx.capture.session.events import StepDue
from traindx.capture.session.stream import Stream
from traindx.capture.torch.discover.wrappers import call_after

MOST, DEPTH = 64, 2  # values of a dict in a checkpoint, and levels of dicts, in which states are looked for


class Resumes:
    """Wraps `torch.load` and the `load_state_dict` of modules and optimizers."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.models: list[weakref.ref[torch.nn.Module]] = []  # restored since the last checkpoint was read
        self.optimizers: list[weakref.ref[torch.optim.Optimizer]] = []
        self.holds: set[str] = set()  # what the last checkpoint holds: "model", "optimizer"
        self.pending = False  # a checkpoint was read, and no step was made since

    def attach(self) -> None:
        stream, replace = self.stream, self.stream.patches.replace
        replace(torch, "load", call_after(stream, self.read))
        replace(torch.nn.Module, "load_state_dict", call_after(stream, self.restore_model))
        replace(torch.optim.Optimizer, "load_state_dict", call_after(stream, self.restore_optimizer))
        self.stream.hear(StepDue, self.step_due)

    def restore_model(self, _result: Any, model: Any, *_args: Any, **_named: Any) -> None:
        self.models.append(weakref.ref(model))

    def restore_optimizer(self, _result: Any, optimizer: Any, *_args: Any, **_named: Any) -> None:
        self.optimizers.append(weakref.ref(optimizer))

    def read(self, found: Any, *_args: Any, **_named: Any) -> None:
        """A file was read."""
        holds = set(states(found, DEPTH))
        if holds:
            self.holds, self.pending = holds, True
            self.models.clear()
            self.optimizers.clear()

    def step_due(self, event: StepDue) -> None:
        """The first step after a checkpoint was read: find out which parts of it are in use."""
        if not self.pending:
            return
        self.pending = False
        trained = {id(p) for group in event.optimizer.param_groups for p in group["params"]}
        models = [reference() for reference in self.models]
        model = any(m is not None and any(id(p) in trained for p in m.parameters()) for m in models)
        optimizer = any(reference() is event.optimizer for reference in self.optimizers)
        if model or optimizer:
            for name in ("model", "optimizer"):
                self.stream.fact(f"checkpoint_holds_{name}", name in self.holds)
            self.stream.fact("checkpoint_restores_model", model)
            self.stream.fact("checkpoint_restores_optimizer", optimizer)


def states(found: Any, depth: int) -> list[str]:
    """The kinds of state in the contents of a file: a dict of tensors is a model's, one with groups an
    optimizer's."""
    if isinstance(found, torch.nn.Module):
        return ["model"]
    if not isinstance(found, Mapping) or not found:
        return []
    if "param_groups" in found and "state" in found:
        return ["optimizer"]
    values = list(found.values())[:MOST]
    if all(isinstance(value, torch.Tensor) for value in values):
        return ["model"]
    return [kind for value in values for kind in states(value, depth - 1)] if depth else []
