"""Weights that layers use rounded, seen where a pass multiplies with them: Keras's own quantization
(`quantize`), and layers of the script's own that are trained straight through.

What a layer multiplies with is compared with its variable of that shape. Where it is not the variable
itself, it goes out of the pass along with what the layers put out; its levels are counted on the host. Only
the functions of `keras.ops` are wrapped, and the second of what they are given: what is multiplied by an
operator, or by functions of a backend, is not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras
import numpy as np
from keras import ops
from keras.src import backend

from traindx.capture.arrays.data import Array
from traindx.capture.arrays.levels import (
    JUDGED,
    READ,
    level_statistics,
    moved_share,
    quantized_levels,
    steps,
)
from traindx.capture.process.patches import Patches
from traindx.vocabulary import Fact

USED, KEPT = "\nused\n", "\nkept\n"  # before names, among what a pass gives
PRODUCTS = ("matmul", "dot", "tensordot", "einsum")
FILTERS = ("conv", "depthwise_conv", "conv_transpose")
HELD = ("int8", "int4", "gptq", "awq")  # modes in which no finer weights are kept, and none is trained
WHOLE = "int8"  # the mode in which a layer holds levels and nothing finer; those of int4 are packed


class Rounded:
    """Of one model. `layers`: those that are being called, the innermost last."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.off = False  # nothing can be taken out of this model's pass
        self.plain: set[str] = set()  # names of variables that are multiplied with as they are
        self.levels: dict[str, int] = {}  # of a weight, by its layer; 0: not rounded
        self._before: dict[str, tuple[int, Array]] = {}  # a step, and what was used in it
        self._looks = 0

    @contextmanager
    def watching(self, names: dict[int, str], readings: dict[str, Any], exchanged: bool) -> Iterator[None]:
        """While a model is called: what is used goes into `readings`; `exchanged`: what is kept is used in
        its place."""
        patches = Patches()

        def product(original: Callable[..., Any], *args: Any, **named: Any) -> Any:
            # `einsum` begins with what it is to do.
            place = 2 if args and isinstance(args[0], str) else 1
            if len(args) <= place:
                return original(*args, **named)
            weight = self._exchange(args[place], names, readings, exchanged)
            return original(*args[:place], weight, *args[place + 1 :], **named)

        for home, functions in ((backend.numpy, PRODUCTS), (backend.nn, FILTERS)):
            for name in () if self.off else functions:
                patches.around(home, name, product)
        try:
            yield
        finally:
            patches.undo()

    def _exchange(
        self, operand: Any, names: dict[int, str], readings: dict[str, Any], exchanged: bool
    ) -> Any:
        """The operand; in its place, where that is wanted, the variable that it was made of."""
        shape = tuple(getattr(operand, "shape", ()))
        layer = self.layers[-1] if self.layers else None
        if len(shape) < 2 or layer is None or getattr(layer, "quantization_mode", None) in HELD:
            return operand
        name = names.get(id(layer), layer.name)
        own = [v for v in layer._trainable_variables if tuple(v.shape) == shape]
        if any(operand is v or operand is v.value for v in own):
            self.plain.add(name)
            return operand
        if len(own) != 1 or USED + name in readings:
            return operand
        readings[USED + name], readings[KEPT + name] = rows_of(operand), rows_of(own[0].value)
        return own[0].value if exchanged else operand

    def whole_number_layers(self, layers: list[Any], names: dict[int, str]) -> dict[str, Array]:
        """What layers of whole numbers hold, which no training changes, as a pass would give it."""
        found = [
            one for one in layers if getattr(one, "quantization_mode", None) == WHOLE and id(one) in names
        ]
        return {
            USED + names[id(one)]: np.asarray(keras.ops.convert_to_numpy(rows_of(one._kernel)))
            for one in found
            if getattr(one, "_kernel", None) is not None and len(one._kernel.shape) > 1
        }

    def take(self, outputs: dict[str, Array], step: int) -> dict[str, list[float]]:
        """Take what was used out of a pass's `outputs`; by layer, the fields of `signals/quantization.py`
        (of gradients nothing is known)."""
        self._looks += 1
        found = {}
        for name in [key.removeprefix(USED) for key in outputs if key.startswith(USED)]:
            used, kept = outputs.pop(USED + name), outputs.pop(KEPT + name, None)
            if not self._looks & (self._looks - 1) or name not in self.levels:
                self.levels[name] = levels_of(used, kept) or self.levels.get(name, 0)
            if self.levels[name]:
                own = np.full_like(used, np.nan, np.float64) if kept is None else kept
                found[name] = [*level_statistics(used, own), *self._changes(name, used, step), np.nan]
        return found

    def _changes(self, name: str, used: Array, step: int) -> tuple[float, float]:
        """Shares of the values on another level: than a step before, and than when they were last looked
        at."""
        before = self._before.get(name)
        self._before[name] = step, used
        if before is None or before[1].shape != used.shape or step <= before[0]:
            return np.nan, np.nan
        far = moved_share(used, before[1])
        return (far if step - before[0] == 1 else np.nan), far

    @property
    def any_rounded(self) -> bool:
        return any(self.levels.values())

    def facts(self, layers: list[Any], names: dict[int, str]) -> dict[str, Fact]:
        """Whether weights are rounded: nothing where some of the script's own layers are used in ways
        unseen."""
        counts = [count for count in self.levels.values() if count]
        if counts:
            return {"quantized": True, "quantized_levels": min(counts), "quantized_modules": len(counts),
                    "quantized_in": "training"}  # fmt: skip
        if self.off or any(
            getattr(one, "quantization_mode", None) for one in layers
        ):  # packed, or out of sight
            return {}
        own = [one for one in layers if not type(one).__module__.startswith("keras.")]
        unseen = [one for one in own if any(len(v.shape) > 1 for v in one._trainable_variables)]
        return {} if any(names.get(id(one)) not in self.plain for one in unseen) else {"quantized": False}


def rows_of(weight: Any) -> Any:
    """`[rows, values]`: one row an output, evenly spread ones where there are more values than are read."""
    shape = tuple(weight.shape)
    stride = max(1, -(-int(np.prod(shape)) // READ))
    return ops.transpose(ops.cast(ops.reshape(weight, (-1, shape[-1])), "float32")[:, ::stride])


def levels_of(used: Array, kept: Array | None) -> int:
    """How many levels values `[rows, values]` lie on; 0 where they are not rounded."""
    few = max(1, -(-used.size // JUDGED))
    if kept is None:
        return len(steps(used[::few].reshape(-1)))
    return quantized_levels(used[::few], kept[::few])


def loss_of(model: Any, targets: Any, output: Array) -> float:
    """The loss that a model was compiled with, of an output."""
    with backend.StatelessScope():
        return float(keras.ops.convert_to_numpy(model._compile_loss(targets, output)))
