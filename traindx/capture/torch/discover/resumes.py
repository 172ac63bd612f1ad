"""Checkpoints that are loaded: what they hold, and what of it the training that goes on was given.

`torch.load` shows what a checkpoint holds, `load_state_dict` what is restored. Told is only of a model that is trained
afterwards: weights that are loaded for an evaluation, of a teacher or of an average are no resume.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import torch

from traindx.capture.session.events import StepDue
from traindx.capture.session.stream import Stream

LOOKED_AT, DEEP = 64, 2  # values of a checkpoint, and levels of dicts in it, in which states are looked for


class Resumes:
    """Wraps `torch.load` and the `load_state_dict` of modules and optimizers."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.models: list[weakref.ref[torch.nn.Module]] = []  # restored since the last checkpoint was read
        self.optimizers: list[weakref.ref[torch.optim.Optimizer]] = []
        self.holds: set[str] = set()  # what the last checkpoint holds: "model", "optimizer"
        self.open = False  # a checkpoint was read, and no step was made since

    def attach(self) -> None:
        patches = self.stream.patches
        patches.replace(torch, "load", self.load)
        patches.replace(torch.nn.Module, "load_state_dict", self.restored(self.models))
        patches.replace(torch.optim.Optimizer, "load_state_dict", self.restored(self.optimizers))
        self.stream.hear(StepDue, self.step_due)

    def load(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, resumes = self.stream, self

        def load(*args: Any, **named: Any) -> Any:
            found = original(*args, **named)
            stream.safely(resumes.read, found)
            return found

        return load

    def restored(self, kept: list[Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        stream = self.stream

        def wrap(original: Callable[..., Any]) -> Callable[..., Any]:
            def load_state_dict(self: Any, *args: Any, **named: Any) -> Any:
                done = original(self, *args, **named)
                stream.safely(kept.append, weakref.ref(self))
                return done

            return load_state_dict

        return wrap

    def read(self, found: Any) -> None:
        """A file was read."""
        holds = set(states(found, DEEP))
        if holds:
            self.holds, self.open = holds, True
            self.models.clear()
            self.optimizers.clear()

    def step_due(self, event: StepDue) -> None:
        """The first step after a checkpoint was read: what of it is in use."""
        if not self.open:
            return
        self.open = False
        trained = {id(p) for group in event.optimizer.param_groups for p in group["params"]}
        models = [made() for made in self.models]
        model = any(m is not None and any(id(p) in trained for p in m.parameters()) for m in models)
        optimizer = any(made() is event.optimizer for made in self.optimizers)
        if model or optimizer:
            for name in ("model", "optimizer"):
                self.stream.fact(f"checkpoint_holds_{name}", name in self.holds)
            self.stream.fact("checkpoint_restores_model", model)
            self.stream.fact("checkpoint_restores_optimizer", optimizer)


def states(found: Any, depth: int) -> list[str]:
    """The kinds of state in what a file held: a dict of tensors is a model's, one with groups an optimizer's."""
    if isinstance(found, torch.nn.Module):
        return ["model"]
    if not isinstance(found, Mapping) or not found:
        return []
    if "param_groups" in found and "state" in found:
        return ["optimizer"]
    values = list(found.values())[:LOOKED_AT]
    if all(isinstance(value, torch.Tensor) for value in values):
        return ["model"]
    return [kind for value in values for kind in states(value, depth - 1)] if depth else []
