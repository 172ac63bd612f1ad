"""The last sampled training call of a model, held so that it can be repeated without keeping anything
alive. Everything that a call outside of its training changes is restored."""

import random
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as every_module
from torch.utils._python_dispatch import TorchDispatchMode

from traindx.capture.torch.measure.tensors.views import any_tensor, with_torch_functions

PLAIN = (type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device, torch.Size)
FREED = "the model or its batch was freed before the run ended"


class Call(NamedTuple):
    """A model, its arguments, and the targets that its loss was computed with."""

    model: nn.Module
    args: Any
    kwargs: dict[str, Any]
    targets: torch.Tensor | None

    def repeat(self) -> Any:
        """The output of the same call."""
        return self.model(*self.args, **self.kwargs)


class RecordedCall:
    """The model, and arguments that are no tensors, are referred to weakly. Tensors are detached, and share
    the memory of the batch."""

    def __init__(self) -> None:
        self.targets: torch.Tensor | None = None
        self._model: weakref.ref[nn.Module] | None = None
        self._arguments: tuple[Any, dict[str, Any]] = ((), {})
        self._freed = False  # a model was freed before its call was repeated

    def record(self, model: nn.Module, args: Any, kwargs: Any) -> None:
        self._model = weakref.ref(model, self._model_freed)
        self._arguments = map_parts(weaken_references, (args, dict(kwargs or {})))

    def record_targets(self, targets: Any) -> None:
        """What the loss of that step is computed with."""
        found = any_tensor(targets)
        self.targets = None if found is None else found.detach()

    def is_of(self, model: nn.Module) -> bool:
        """Whether a call of this model waits to be repeated."""
        return self._model is not None and self._model() is model

    def forget(self) -> None:
        """The step is over, or was not made."""
        self._model = self.targets = None
        self._arguments = (), {}

    def _model_freed(self, reference: Any) -> None:
        if self._model is reference:  # its batch must not outlive it
            self.forget()
            self._freed = True

    def take(self, with_targets: bool = False) -> Call | None:
        """The call, which is forgotten; None where none was recorded (`with_targets`: or no targets). Raises
        NotRerun where a part of it was freed."""
        reference, arguments, targets = self._model, self._arguments, self.targets
        self.forget()
        if reference is None or (with_targets and targets is None):
            if self._freed:
                raise NotRerun(FREED)
            return None
        model = reference()
        if model is None:
            raise NotRerun(FREED)
        args, kwargs = map_parts(restore_references, arguments)
        return Call(model, args, kwargs, targets)


def map_parts(change: Callable[[Any], Any], nest: Any) -> Any:
    """The same nest of lists, tuples and dicts with every part changed. It runs in sampled steps;
    `tree_map` of `torch.utils._pytree` takes 9 microseconds for one tensor, this takes 1.3."""
    if type(nest) in (list, tuple):
        return type(nest)(map_parts(change, part) for part in nest)
    if type(nest) is dict:
        return {key: map_parts(change, part) for key, part in nest.items()}
    return change(nest)


def weaken_references(part: Any) -> Any:
    """A part of the arguments that keeps nothing but the batch's memory alive."""
    if isinstance(part, torch.Tensor):
        return part.detach()
    if isinstance(part, PLAIN):
        return part
    try:
        return weakref.ref(part)
    except TypeError:  # it cannot be referred to weakly: treated as freed at once
        return lambda: None


def restore_references(part: Any) -> Any:
    """The part again. Raises NotRerun where it was freed."""
    if isinstance(part, (torch.Tensor, *PLAIN)):
        return part
    found = part()
    if found is None:
        raise NotRerun(FREED)
    return found


def observed_by_others(model: nn.Module) -> bool:
    """Whether the script would notice another call of a model: by its own hooks, or by tensor subclasses."""
    hooks: list[Callable[..., Any]] = []
    hooks += [*every_module._global_forward_hooks.values(), *every_module._global_forward_pre_hooks.values()]
    for module in model.modules():
        hooks += [*module._forward_hooks.values(), *module._forward_pre_hooks.values()]
    kinds = {type(tensor) for tensor in (*model.parameters(), *model.buffers())}
    observers = [*hooks, *(kind for kind in kinds if kind not in (torch.Tensor, nn.Parameter, nn.Buffer))]
    return any(not str(getattr(it, "__module__", "")).startswith("torch") for it in observers)


class NotRerun(Exception):
    """A recorded call cannot be repeated; says why."""


class Unobserved(TorchDispatchMode):  # type: ignore[misc]
    """While it is entered, capture records nothing: `hooks.is_tracing` sees a dispatch mode."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def allow_repeats(model: torch.nn.Module) -> Iterator[None]:
    """A recorded call of the model may be repeated, without gradients. Raises NotRerun where the call
    fails."""
    try:
        with preserve_model_state(model), warnings.catch_warnings(), torch.no_grad(), Unobserved():
            warnings.simplefilter("ignore")
            yield
    except Exception as error:
        # The model is called more often than it was written for, so it may raise anything.
        raise NotRerun(f"the model could not be called: {type(error).__name__}") from error


@contextmanager
def preserve_model_state(model: torch.nn.Module | None) -> Iterator[None]:
    """Modes, buffers, gradients, attributes of modules and random state (PyTorch's, NumPy's and Python's)
    are restored when this is left."""
    if model is None:
        yield
        return
    modes = [(m, m.training) for m in model.modules()]
    # What a scripted module holds is not in Python's dictionaries.
    plain = [m for m in model.modules() if not isinstance(m, torch.jit.ScriptModule)]
    attributes = [(held, dict(held)) for m in plain for held in (m.__dict__, m._buffers)]
    buffers = [(b, b.detach().clone()) for b in model.buffers()]
    gradients = [(p, p.grad) for p in model.parameters()]
    python_state, numpy_state = random.getstate(), np.random.get_state()
    for parameter, _ in gradients:
        parameter.grad = None
    devices = list({p.device for p, _ in gradients if p.device.type == "cuda"})
    try:
        with torch.random.fork_rng(devices=devices), torch.enable_grad(), with_torch_functions():
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        for module, training in modes:
            module.training = training
        for held, before in attributes:
            held.clear()
            held.update(before)
        with torch.no_grad():
            for buffer, values in buffers:
                buffer.copy_(values)
        for parameter, gradient in gradients:
            parameter.grad = gradient
