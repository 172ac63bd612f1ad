"""Where an intervention meets the script: the places to hook into, and what it reports about itself."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch

from traindx.capture.experiment import site as shared
from traindx.capture.process.patches import set_within
from traindx.capture.torch.experiment.hooks import Hooks
from traindx.capture.torch.experiment.settings import Change, Optimizer, Override


class Site(shared.Site):
    """One intervention in the script's process."""

    hooks: Hooks

    def __init__(self, hooks: Hooks, spec: str) -> None:
        super().__init__(hooks, spec)
        self.needs_optimizer = False

    def steps_made(self) -> int:
        return int(self.hooks.stream.scene.steps)

    # Calls.

    def around_calls(self, hook: Callable[..., Any]) -> None:
        """`hook(call, module, *args, **named)` for every call of an outermost module (also of loss
        modules and parts of a model that the script calls itself); it returns the output, usually
        `call(module, *args, **named)`."""
        self.hooks.calls.append((self, hook))

    def on_backward(self, hook: Callable[[torch.Tensor | None], None]) -> None:
        """`hook(loss)` before every backward pass (None: not of a single tensor)."""
        self.hooks.backwards.append((self, hook))

    # Optimizers and steps. A hook is called for each optimizer of the script.

    def on_optimizer(self, hook: Callable[[Optimizer], None]) -> None:
        """When an optimizer has got its parameter groups."""
        self.needs_optimizer = True
        self.hooks.made.append((self, hook))

    def before_measuring(self, hook: Callable[[Optimizer], None]) -> None:
        """When a step begins, before capture measures its gradients (of an optimizer that calls a closure
        several times in a step: after each call)."""
        self.needs_optimizer = True
        self.hooks.early.append((self, hook))

    def on_gradients(self, hook: Callable[[Optimizer], None]) -> None:
        """When gradients are final, without a loss scale, and about to be used: after capture has
        measured them. Refuses LBFGS."""
        self.needs_optimizer = True
        self.hooks.gradients.append((self, hook))

    def around_step(self, enter: Callable[[Optimizer], None], leave: Callable[[Optimizer], None]) -> None:
        """Before the step uses the settings, and after capture has read those it used; `leave` in the
        reverse order of `enter`."""
        self.needs_optimizer = True
        self.hooks.steps.append((self, enter, leave))

    def before_closure(self, hook: Callable[[Optimizer], None]) -> None:
        """Before each call of the closure that a step was given."""
        self.hooks.closures.append((self, hook))

    def withhold(self, optimizer: Optimizer) -> None:
        """From a hook on gradients: the script's own step does nothing this time."""
        self.hooks.withheld.setdefault(id(optimizer), [])

    def hold_back(self, optimizer: Optimizer) -> None:
        """From a hook before measuring: this step is none, neither in what it does nor in the record.
        Refuses optimizers that call a closure several times in a step."""
        if self.hooks.inside_closure:
            self.refuse(f"{type(optimizer).__name__} computes its gradients inside of its step")
        self.hooks.held_back.add(id(optimizer))
        self.hooks.stream.scene.held_back = True

    def group(self, key: str, new: Change, *, what: str = "steps") -> None:
        """Another value of a setting of the optimizer's groups during each step: `new(optimizer, number
        of the group, the script's value)`. A group without the setting is refused."""
        override = Override(self, key, new, what)
        self.around_step(override.enter, override.leave)

    # What is known.

    def step(self, optimizer: Optimizer) -> int:
        """Steps that this optimizer has done."""
        return self.hooks.count(optimizer)

    def unseen(self) -> AbstractContextManager[None]:
        """What is done inside is not recorded."""
        return set_within(self.hooks.stream, "active", False)
