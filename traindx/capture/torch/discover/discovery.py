"""Finds the training in an unmodified script, and reports what happens in it to an event stream.

Nothing is attached to an object of the script. Optimizers are observed by global hooks, modules by the code
that every call of a module runs (`torch/hooks.py`), and the functions that every loop uses by thin wrappers.
Each part handles one subject, and knows none of the other parts. Those of other modules are:

    models     the root modules and their inputs
    loop       optimizers, backward, steps, accumulation
    manual     steps of a loop without an optimizer object
    losses     loss functions, validation passes
    loaders    loaders, time waited for batches
    extras     clipping, loss scaling, schedules, seeds, compilation, lines at which the host waits for an accelerator
    wrappers   wrappers that call a hook before or after a function

Here are gradients that `torch.autograd.grad` computes instead of `backward`, and checkpoints that are
loaded. `torch.load` shows what a checkpoint contains, `load_state_dict` what is restored. Only a model that
is trained afterwards counts: loading weights for an evaluation, for a teacher or for an average is not a
resume."""

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from traindx.capture.session import Stream
from traindx.capture.session.events import StepDue
from traindx.capture.torch.discover.extras import Extras, Waits
from traindx.capture.torch.discover.loaders import Loaders
from traindx.capture.torch.discover.loop import Loop
from traindx.capture.torch.discover.losses import Losses
from traindx.capture.torch.discover.models import Models
from traindx.capture.torch.discover.wrappers import call_after
from traindx.capture.torch.hooks import CALLS, is_tracing


class Discovery:
    """All parts, put in place and taken away."""

    def __init__(self, stream: Stream, another: Callable[..., bool] | None = None) -> None:
        self.stream = stream
        self.models, self.loop, self.losses = Models(stream, another), Loop(stream), Losses(stream)
        others = (Loaders(stream), Extras(stream), Resumes(stream), Waits(stream))
        self.parts = (self.models, self.loop, Grads(stream, self.loop), self.losses, *others)

    def attach(self, between: Callable[[], None] = lambda: None) -> None:
        """Put every hook in place. torch must have been imported. `between` is called before the one
        hook that may end the script: what it registers runs after all measuring."""
        for part in self.parts:
            part.attach()
        CALLS.deaf = self.stream.elsewhere
        self.stream.ends.append(self.listen_again)
        between()
        self.loop.attach_last()
        self.stream.mind_forks()

    def listen_again(self) -> None:
        CALLS.deaf = None

    def end(self) -> None:
        """The script is over: report what is still held back, and detach."""
        for part in (self.loop, self.losses):
            self.stream.safely(part.end)
        self.stream.detach()
        self.loop.release()


class Grads:
    """A call counts as a training pass if the loop never called `backward` and asks for the gradients of one
    number, without a graph of them, for leaves that are trained: all in optimizers, or, without any,
    parameters. Saliency, gradient penalties and inner loops of meta-learning do not count."""

    def __init__(self, stream: Stream, loop: Loop) -> None:
        self.stream, self.loop = stream, loop
        self.passes = 0

    def attach(self) -> None:
        self.stream.patches.replace(torch.autograd, "grad", self.wrap)

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        stream, grads = self.stream, self

        def grad(outputs: Any, inputs: Any, *args: Any, **named: Any) -> Any:
            if not (stream.active and stream.safely(grads.is_training, outputs, inputs, args, named)):
                return original(outputs, inputs, *args, **named)
            leaves = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            stream.safely(grads.begins, outputs, leaves)
            stream.scene.inside_backward = True
            try:
                found = original(outputs, inputs, *args, **named)
            finally:
                stream.scene.inside_backward = False
            stream.safely(grads.ends, leaves, found)
            return found

        return grad

    def is_training(self, outputs: Any, inputs: Any, args: tuple[Any, ...], named: dict[str, Any]) -> bool:
        """Whether a call with these arguments is one of a training loop."""
        scene = self.stream.scene
        if scene.inside_backward or (scene.main_line and not self.passes) or is_tracing():
            return False
        if named.get("create_graph") or (len(args) > 2 and args[2]) or named.get("is_grads_batched"):
            return False
        loss = only_scalar(outputs)
        leaves = [inputs] if isinstance(inputs, torch.Tensor) else inputs
        if loss is None or not loss.requires_grad or not isinstance(leaves, list | tuple) or not leaves:
            return False
        if scene.optimizers:
            return all(id(leaf) in scene.trained for leaf in leaves)
        return all(
            isinstance(leaf, torch.nn.Parameter) or (leaf.is_leaf and len(leaves) > 1) for leaf in leaves
        )

    def begins(self, outputs: Any, leaves: list[torch.Tensor]) -> None:
        self.passes += 1
        self.stream.fact("gradients_from", "torch.autograd.grad")
        self.loop.manual.given = leaves
        self.loop.backward_begins(only_scalar(outputs), None, stale=False)

    def ends(self, leaves: Sequence[torch.Tensor], found: Sequence[Any]) -> None:
        with as_grad(leaves, found):
            self.loop.backward_ends()


def only_scalar(outputs: Any) -> torch.Tensor | None:
    """The one number whose gradients are computed, or None."""
    if isinstance(outputs, list | tuple) and len(outputs) == 1:
        outputs = outputs[0]
    return outputs if isinstance(outputs, torch.Tensor) and outputs.numel() == 1 else None


@contextmanager
def as_grad(leaves: Sequence[torch.Tensor], found: Sequence[Any]) -> Iterator[None]:
    """The gradients are in `grad` while they are measured; afterwards `grad` is restored."""
    before = [leaf.grad for leaf in leaves]
    try:
        for leaf, gradient in zip(leaves, found, strict=True):
            leaf.grad = gradient
        yield
    finally:
        for leaf, gradient in zip(leaves, before, strict=True):
            leaf.grad = gradient


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
