"""Loops that compute their gradients by `torch.autograd.grad` instead of `backward`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from traindx.capture.session.stream import Stream
from traindx.capture.torch.discover.loop import Loop
from traindx.capture.torch.hooks import traced


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
            training = stream.active and stream.safely(grads.is_training, outputs, inputs, args, named)
            if not training:
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
        if scene.inside_backward or (scene.main_line and not self.passes) or traced():
            return False
        if named.get("create_graph") or (len(args) > 2 and args[2]) or named.get("is_grads_batched"):
            return False
        loss = single(outputs)
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
        self.loop.backward_begins(single(outputs), None, stale=False)

    def ends(self, leaves: Sequence[torch.Tensor], found: Sequence[Any]) -> None:
        with as_grad(leaves, found):
            self.loop.backward_ends()


def single(outputs: Any) -> torch.Tensor | None:
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
