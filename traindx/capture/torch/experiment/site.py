"""Where an intervention meets the script: the places to hook into, and what it tells of itself."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from traindx.capture.torch.experiment.hooks import Hooks, Refused
from traindx.capture.torch.experiment.settings import Change, Optimizer, Override
from traindx.vocabulary.setup import Fact

if TYPE_CHECKING:
    import torch


class Site:
    """One intervention in the script's process.

    Whatever is hooked here is guarded: an exception in it ends the experiment (one that the
    script's own code raises, called from a hook, passes through as it is)."""

    def __init__(self, hooks: Hooks, spec: str) -> None:
        self.hooks, self.spec = hooks, spec
        self.touches: Counter[str] = Counter()
        self.unused = ""  # why nothing was touched, in one clause
        self.needs_optimizer = False

    # What it tells.

    def touched(self, what: str, number: int = 1) -> None:
        """Something was changed: `what` in the plural ("steps"), `number` of them."""
        self.touches[what] += number

    def refuse(self, why: str) -> NoReturn:
        """This cannot be done to this script: `why` in one clause. Ends the experiment."""
        raise Refused(why)

    def fact(self, name: str, value: Fact) -> None:
        """A setup fact that is now another than the script's own ("clip_norm")."""
        self.hooks.stream.fact(name, value)

    # Functions and calls.

    def wrap(self, owner: Any, name: str, hook: Callable[..., Any]) -> None:
        """`hook(original, *args, **named)` takes the place of `owner.name` (for a method, args begin
        with self). An owner without it is left alone."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            return self.onion(hook, original)

        self.hooks.patches.replace(owner, name, make)

    def onion(self, hook: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls the hook with the original; what the original raises passes through."""
        hooks = self.hooks

        def theirs(*args: Any, **named: Any) -> Any:
            try:
                return original(*args, **named)
            except BaseException as error:
                hooks.theirs = error
                raise

        def wrapper(*args: Any, **named: Any) -> Any:
            return hooks.guarded(self, hook, theirs, *args, **named)

        return wrapper

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

    def at_end(self, hook: Callable[[], None]) -> None:
        """Before the record is closed."""
        self.hooks.ends.append((self, hook))

    # What is known.

    def step(self, optimizer: Optimizer) -> int:
        """Steps that this optimizer has done."""
        return self.hooks.count(optimizer)

    def limit(self) -> int | None:
        """After how many steps the script will be ended, where that was asked for."""
        steps = self.hooks.request.get("steps")
        return int(steps) if steps else None

    def planned(self) -> int | None:
        """How many steps the run will have, where that is known: asked for, or told by its schedule."""
        planned = self.hooks.stream.known.get("planned_steps")
        return self.limit() or (planned if isinstance(planned, int) else None)

    def stop_after(self, steps: int) -> None:
        """End the script after that many optimizer steps (or earlier, where that was asked for)."""
        self.hooks.request["steps"] = min(steps, self.limit() or steps)

    @contextlib.contextmanager
    def unseen(self) -> Iterator[None]:
        """What is done inside is not recorded."""
        stream = self.hooks.stream
        before, stream.active = stream.active, False
        try:
            yield
        finally:
            stream.active = before
