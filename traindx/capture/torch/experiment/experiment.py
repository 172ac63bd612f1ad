"""In the script's process: applies interventions, and ends the script loudly when one of them fails.

Watching must never stop a training; an experiment must never go on as if it were one.
"""

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import torch
from torch.optim import optimizer as optim

from traindx.capture.experiment.applies import apply_all
from traindx.capture.experiment.site import conclude, report_touched, why_unused
from traindx.capture.interventions.kinds import Given
from traindx.capture.process.patches import remove_all, set_within
from traindx.capture.session import Stream
from traindx.capture.torch.experiment.hooks import Hooks
from traindx.capture.torch.experiment.site import Site

INTERVENTIONS = "traindx.capture.torch.interventions"  # imported by name: they are built on what is here


class Experiment:
    """All interventions of a run, in their order, and the hooks that they share."""

    def __init__(self, request: dict[str, Any], stream: Stream, given: Sequence[Given] = ()) -> None:
        self.stream, self.hooks = stream, Hooks(request, stream)
        self.handles: list[Any] = []
        self.given, self.sites = given, [Site(self.hooks, one.spec) for one in given]
        self.inside_call = self.inside_backward = False

    def attach_first(self) -> None:
        """Before capture's own hooks: what it shall measure is made here."""
        if self.sites:
            self.handles.append(optim.register_optimizer_step_pre_hook(self.before_measuring))

    def attach(self) -> None:
        """After them: what they have measured is changed here."""
        if not self.sites:
            return
        apply_all(self.sites, self.given, INTERVENTIONS)
        self.handles += [
            optim.register_optimizer_step_pre_hook(self.step_begins),
            optim.register_optimizer_step_post_hook(self.step_ended),
        ]
        self.hooks.patches.around(torch.optim.Optimizer, "__init__", self.optimizer_made)
        self.hooks.patches.replace(torch.autograd, "backward", self.backward)
        if self.hooks.calls:
            self.hooks.patches.replace(torch.nn.Module, "__call__", self.called)

    # Steps.

    def before_measuring(self, optimizer: Any, args: Any, named: Any) -> Any:
        """A closure that the step would call once, first of all, is called here instead."""
        if is_nested_step(optimizer):
            return None
        self.stream.scene.held_back = False
        closure = closure_of(args, named)
        if closure is not None:
            if not calls_once(optimizer):
                return None
            for site, hook in self.hooks.closures:
                self.hooks.guarded(site, hook, optimizer)
            with torch.enable_grad():
                loss = closure()
            args, named = with_closure(lambda: loss, args, named)
        self.use(optimizer, self.hooks.early)
        return None if closure is None else (args, named)

    def step_begins(self, optimizer: Any, args: Any, named: Any) -> Any:
        if is_nested_step(optimizer):
            return None
        if id(optimizer) in self.hooks.held_back:
            return (idle_optimizer(optimizer), *args[1:]), named
        for site, enter, _ in self.hooks.steps:
            self.hooks.guarded(site, enter, optimizer)
        closure = closure_of(args, named)
        if closure is None or calls_once(optimizer):
            self.use(optimizer, self.hooks.gradients)
            return (
                ((idle_optimizer(optimizer), *args[1:]), named)
                if id(optimizer) in self.hooks.withheld
                else None
            )

        def then() -> Any:
            for site, hook in self.hooks.closures:
                self.hooks.guarded(site, hook, optimizer)
            loss = closure()
            with set_within(self.hooks, "inside_closure", True):
                self.use(optimizer, [*self.hooks.early, *self.hooks.gradients])
            if id(optimizer) in self.hooks.withheld:
                self.hide(optimizer)
            return loss

        return with_closure(then, args, named)

    def use(self, optimizer: Any, hooks: list[tuple[Site, Callable[..., Any]]]) -> None:
        """The gradients are there."""
        if not hooks:
            return
        with torch.no_grad():
            unscale(optimizer)
            for site, hook in hooks:
                if "LBFGS" in type(optimizer).__name__:
                    hook = refuse_lbfgs(site)
                self.hooks.guarded(site, hook, optimizer)

    def step_ended(self, optimizer: Any, _args: Any, _named: Any) -> None:
        if is_nested_step(optimizer):
            return
        if id(optimizer) in self.hooks.held_back:
            self.hooks.held_back.discard(id(optimizer))
            return
        for site, _, leave in reversed(self.hooks.steps):
            self.hooks.guarded(site, leave, optimizer)
        for p, grad in self.hooks.withheld.pop(id(optimizer), ()):
            p.grad = grad
        self.hooks.counts[optimizer] = self.hooks.count(optimizer) + 1
        report_touched(self.sites)

    def hide(self, optimizer: Any) -> None:
        """Keep the gradients from a step that has begun: without any, it changes nothing."""
        for group in optimizer.param_groups:
            for p in group["params"]:
                self.hooks.withheld[id(optimizer)].append((p, p.grad))
                p.grad = None

    # Other places.

    def optimizer_made(
        self, original: Callable[..., None], optimizer: Any, *args: Any, **named: Any
    ) -> None:
        original(optimizer, *args, **named)
        if self.stream.active:
            for site, hook in self.hooks.made:
                self.hooks.guarded(site, hook, optimizer)

    def backward(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(tensors: Any, *args: Any, **named: Any) -> Any:
            if self.inside_backward:
                return original(tensors, *args, **named)
            self.check_by_hand()
            for site, hook in self.hooks.backwards:
                loss = tensors if isinstance(tensors, torch.Tensor) and tensors.numel() == 1 else None
                self.hooks.guarded(site, hook, loss)
            with set_within(self, "inside_backward", True):
                return original(tensors, *args, **named)

        return backward

    def check_by_hand(self) -> None:
        """Parameters that change without an optimizer cannot be reached."""
        scene = self.stream.scene
        if scene.optimizers or not scene.steps:
            return
        for site in self.sites:
            if site.needs_optimizer:
                self.hooks.guarded(
                    site, site.refuse, "no optimizer object seen: the script changes its parameters by hand"
                )

    def called(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def layer(i: int) -> Callable[..., Any]:
            if i == len(self.hooks.calls):
                return original
            site, hook = self.hooks.calls[i]
            found: Callable[..., Any] = site.wrap_with_hook(hook, layer(i + 1))
            return found

        outermost = layer(0)

        def __call__(module: Any, *args: Any, **named: Any) -> Any:
            if torch.compiler.is_compiling() or self.inside_call or is_compiled(module):
                return original(module, *args, **named)
            with set_within(self, "inside_call", True):
                return outermost(module, *args, **named)

        return __call__

    def end(self) -> None:
        """The script is over: say what each intervention did, and let go."""
        conclude(self.hooks, self.sites, self.why)
        self.withdraw()

    def withdraw(self) -> None:
        """Let go of the script."""
        self.hooks.patches.undo()
        remove_all(self.handles)

    def why(self, site: Any) -> str:
        if site.needs_optimizer and not self.stream.scene.optimizers:
            return "no optimizer object seen"
        if site.needs_optimizer and not self.hooks.counts:
            return "no optimizer made a step"
        if self.stream.scene.within_function and any(site is other for other, _ in self.hooks.calls):
            return "what is called inside of a compiled function is out of reach"
        return why_unused(site)


def is_nested_step(optimizer: Any) -> bool:
    """Whether this step is part of another: a class that extends one of PyTorch's calls the other's step,
    and PyTorch calls the hooks of both. To be asked by a hook."""
    frame: FrameType | None = sys._getframe(2)  # PyTorch's wrapper of a step
    code = frame.f_code if frame is not None else None
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code is code and frame.f_locals.get("self") is optimizer:
            return True
    return False


def closure_of(args: Any, named: Any) -> Any:
    """The closure that a step was called with; the first argument is the optimizer itself."""
    return args[1] if len(args) > 1 else named.get("closure")


def with_closure(closure: Callable[[], Any], args: Any, named: Any) -> tuple[Any, Any]:
    """The same arguments of a step with another closure."""
    if len(args) > 1:
        return (args[0], closure, *args[2:]), named
    return args, {**named, "closure": closure}


def calls_once(optimizer: Any) -> bool:
    """Whether a step calls its closure once, before it does anything else."""
    kind = type(optimizer)
    return kind.__module__.startswith("torch.optim.") and "LBFGS" not in kind.__name__


def is_compiled(module: Any) -> bool:
    """A graph that `torch.compile` has made of something: no module of the script's."""
    return isinstance(module, torch.fx.GraphModule) and next(module.parameters(), None) is None


def idle_optimizer(optimizer: Any) -> Any:
    """A stand-in whose step does nothing: the same optimizer without any parameters."""
    stand_in = object.__new__(type(optimizer))
    stand_in.__dict__.update(optimizer.__dict__)
    stand_in.param_groups = [{**group, "params": []} for group in optimizer.param_groups]
    return stand_in


def unscale(optimizer: Any) -> None:
    """An optimizer that would take the loss scale out of the gradients itself finds that done."""
    scale = getattr(optimizer, "grad_scale", None)
    if scale is None:
        return
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.div_(scale.to(p.grad.device))
    optimizer.grad_scale = None


def refuse_lbfgs(site: Site) -> Callable[[Any], None]:
    return lambda _: site.refuse("LBFGS searches along gradients that it computes inside of its step")
