"""What the layers of a model put out for a batch, in a separate forward pass between two steps of the
training.

Nothing of the pass stays: in Keras's stateless scope what layers assign (statistics, seeds, losses) goes
nowhere, and the generators of numpy and Python are put back. Rates of dropout and statistics of batches are
those of training."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras.src.backend.common.stateless_scope import StatelessScope

from traindx.capture.arrays import activations as act
from traindx.capture.arrays.data import Array
from traindx.capture.keras.facts import activation_of, plain_layers
from traindx.capture.keras.rounded import Rounded
from traindx.capture.keras.state import mapping

ROWS = 64  # samples that go through the model
RANK_EVERY = 4  # passes between effective ranks
MOST_LAYERS = 256
OUTPUT = "\n"  # the key of the model's own output among those of its layers
RECTIFIERS = ("relu", "relu6")
SQUASHERS: dict[str, act.Kind] = {
    "tanh": "tanh output",
    "sigmoid": "sigmoid output",
    "hard_sigmoid": "sigmoid output",
}


class Pass:
    """The passes of one model. `measured` names no layer twice."""

    def __init__(self, model: Any, names: dict[int, str]) -> None:
        self._model, self._names = model, names
        self._units: dict[str, act.Units] = {}
        self._kinds: dict[str, act.Kind] = {}
        self._compiled: dict[bool, Callable[..., Any]] = {}  # by whether weights are exchanged
        self.rounded = Rounded()
        self._whole = self.rounded.whole(plain_layers(model), names)
        self.step = 0  # that the coming pass is of
        self.quantized: dict[str, list[float]] = {}  # of the last pass, by layer
        self._rows, self._turn = 0, 0

    def __call__(self, inputs: Any) -> tuple[dict[str, list[float]], Array | None, int]:
        """By layer, the fields of `signals/activations.py`; the model's output, and the rows that it is of.
        `inputs`: nested arrays. Nothing of a batch that has too few rows."""
        flat = keras.tree.flatten(inputs)
        count = min(ROWS, len(flat[0])) if flat else 0
        self._rows = self._rows or count
        if count < max(self._rows, 1):
            return {}, None, 0
        taken = keras.tree.map_structure(lambda part: part[: self._rows], inputs)
        try:
            outputs = self._outputs(taken)
        except TypeError:  # on JAX: of a layer with a custom gradient, whose inside is traced separately
            if self.rounded.off:
                raise
            self.rounded.off = True
            self._compiled.clear()
            outputs = self._outputs(taken)
        answer = outputs.pop(OUTPUT, None)
        self._turn += 1
        outputs |= self._whole
        self.quantized = self.rounded.take(outputs, self.step)
        readings = {name: self._reading(name, values) for name, values in outputs.items() if values.size}
        return readings, answer, self._rows

    def unrounded(self, inputs: Any) -> Array:
        """The model's output with the weights that are kept, of the rows of the last pass."""
        taken = keras.tree.map_structure(lambda part: part[: self._rows], inputs)
        return self._outputs(taken, exchanged=True)[OUTPUT]

    def _reading(self, name: str, values: Array) -> list[float]:
        kind, rows = self._kinds.get(name, ""), act.rows_of(values, self._turn)
        part = act.rank_part(values) if self._turn % RANK_EVERY == 1 else None
        silent = float("nan")
        if kind == "rectifier":
            units = self._units.setdefault(name, act.Units())
            last = np.moveaxis(rows, -1, 1) if rows.ndim > 3 else rows
            units.add(act.by_unit(last, False), len(rows))
            silent = float(units.silent())
        part = None if part is None else np.asarray(part, np.float32)
        return [*act.measured(np.ascontiguousarray(rows, np.float32), kind, None, part), silent]

    def _outputs(self, inputs: Any, exchanged: bool = False) -> dict[str, Array]:
        """Arrays by layer, in the order of their calls; `exchanged`: weights that are rounded are used as
        kept."""
        chance, numbers = random.getstate(), np.random.get_state()
        try:
            backend = keras.backend.backend()
            pairs = mapping(self._model) or [(v, v.value) for v in self._model.variables]
            variables, values = [variable for variable, _ in pairs], [value for _, value in pairs]
            if backend == "jax":
                from keras.src.backend.jax.trainer import jit

                if exchanged not in self._compiled:
                    self._compiled[exchanged] = jit(
                        lambda held, given: self._forward(variables, held, given, exchanged)
                    )
                found = self._compiled[exchanged](values, inputs)
            elif backend == "torch":
                from keras.src.backend.torch.trainer import torch

                with torch.no_grad(), torch.random.fork_rng(devices=[]):
                    found = self._forward(variables, values, inputs, exchanged)
            else:
                found = self._forward(variables, values, inputs, exchanged)
            return {name: np.asarray(keras.ops.convert_to_numpy(value)) for name, value in found.items()}
        finally:
            random.setstate(chance)
            np.random.set_state(numbers)

    def _forward(self, variables: list[Any], values: Any, inputs: Any, exchanged: bool) -> dict[str, Any]:
        outputs: dict[str, Any] = {}
        weights: dict[str, Any] = {}
        within = self.rounded.layers = []
        kinds, names = self._kinds, self._names
        original = keras.layers.Layer.__call__

        def call(layer: Any, *args: Any, **named: Any) -> Any:
            within.append(layer)
            try:
                output = original(layer, *args, **named)
            finally:
                within.pop()
            name = names.get(id(layer))
            if name and hasattr(output, "shape") and name not in outputs and len(outputs) < MOST_LAYERS:
                outputs[name] = output
                applied = activation_of(layer)
                kinds[name] = "rectifier" if applied in RECTIFIERS else SQUASHERS.get(applied, "")
            return output

        named = {"training": True} if self._model._call_has_training_arg else {}
        with StatelessScope(state_mapping=list(zip(variables, values, strict=True)), collect_losses=True):
            keras.layers.Layer.__call__ = call
            try:
                with self.rounded.watching(names, weights, exchanged):
                    answer = self._model(inputs, **named)
            finally:
                keras.layers.Layer.__call__ = original
        answer = keras.tree.flatten(answer)[0]
        for name, output in outputs.items():
            if output is answer:
                kinds[name] = ""  # answers that are sure are no fault
        return {OUTPUT: answer} if exchanged else {**outputs, **weights, OUTPUT: answer}
