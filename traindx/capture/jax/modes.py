"""Dropout and batch normalization of Flax and Equinox: which mode they are called in, in training and in evaluation.

A computation is traced once and then runs as it was compiled, so modes are read where it is traced. What is traced
outside of gradients counts from the first step on: before it, models are initialized and shapes are tried."""

import functools
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from traindx.capture.process.patches import is_imported
from traindx.capture.session import Stream

MODULES = ("flax.linen", "flax.nnx", "equinox")
LAYERS = {"Dropout": "has_dropout", "BatchNorm": "has_normalization"}
SWITCHES = ("deterministic", "use_running_average", "inference")  # true: the layer evaluates


class Modes:
    """`depth`: calls within each other; `begun`: whether a training has made a step."""

    def __init__(
        self, stream: Stream, wanted: dict[str, Any], depth: SimpleNamespace, begun: Callable[[], bool]
    ) -> None:
        self._stream, self._depth, self._begun = stream, depth, begun
        self._trained: set[bool] = set()  # whether layers trained, in calls that gradients are taken of
        self._evaluated: set[bool] = set()  # in other calls
        for name in MODULES:
            hook = functools.partial(stream.safely, self._wrap)
            if is_imported(name):
                hook(sys.modules[name])
            else:
                wanted[name] = hook

    def _wrap(self, module: Any) -> None:
        layers = module if hasattr(module, "Dropout") else module.nn  # Equinox has them there
        for name, fact in LAYERS.items():
            if hasattr(layers, name):
                hook = functools.partial(self._called, fact)
                self._stream.patches.around(getattr(layers, name), "__call__", hook)

    def _called(self, fact: str, original: Callable[..., Any], layer: Any, *args: Any, **named: Any) -> Any:
        if self._stream.active:
            self._stream.safely(self._count, fact, layer, args[1:2], named)
        return original(layer, *args, **named)

    def _count(self, fact: str, layer: Any, second: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = (
            *(named.get(name) for name in SWITCHES),
            *second,
            *(getattr(layer, n, None) for n in SWITCHES),
        )
        evaluates = next((value for value in given if isinstance(value, bool)), None)
        rate = getattr(layer, "rate", getattr(layer, "p", None))
        depth = self._depth
        if evaluates is None or (isinstance(rate, float | int) and not rate) or depth.update or depth.init:
            return
        self._stream.fact(fact, True)
        if depth.grad:
            self._trained.add(not evaluates)
            self._stream.fact("model_training_mode_during_backward", True in self._trained)
            self._stream.fact("steps_in_eval_mode_share", float(True not in self._trained))
        elif self._begun():
            self._evaluated.add(not evaluates)
            self._stream.fact("validation_in_train_mode_share", float(False not in self._evaluated))
