"""What is observed of a training in Keras next to gradients and weights: batches, and what the layers of the
model put out for them, in a separate forward pass between two steps of the training.

Nothing of the pass stays: in Keras's stateless scope what layers assign (statistics, seeds, losses) goes
nowhere, and the generators of numpy and Python are put back. Rates of dropout and statistics of batches are
those of training."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
from keras.src.backend.common.stateless_scope import StatelessScope

from traindx.capture.arrays import activations as act
from traindx.capture.arrays.answers import answers
from traindx.capture.arrays.data import Array
from traindx.capture.compiled.reported import BatchObserver
from traindx.capture.keras.facts import Loss, activation_of, plain_layers
from traindx.capture.keras.quantized_layers import Rounded, loss_of
from traindx.capture.keras.state import mapped_variables
from traindx.capture.session import Watched

GAP_EVERY = 4  # passes between those without rounding


def array(found: Any) -> Array | None:
    """The first tensor of a batch's part on the host; None where it is no table of numbers."""
    flat = [part for part in keras.tree.flatten(found) if part is not None and hasattr(part, "shape")]
    if not flat:
        return None
    values = keras.ops.convert_to_numpy(flat[0]) if not isinstance(flat[0], np.ndarray) else flat[0]
    return np.atleast_1d(values) if values.dtype.kind in "fiub" else None


class KerasObserver(BatchObserver):
    """Observes batches, and on sampled steps the outputs of the layers."""

    def __init__(self, view: Watched) -> None:
        super().__init__(view, array)
        self._loss: Loss | None = None
        self._pass: Pass | None = None
        self._refused = ""
        self._latest: tuple[Any, Any, Any] | None = None  # a training batch, for the pass of a sampled step
        self.step = 0  # that was made
        self._model: Any = None
        self._names: dict[int, str] = {}
        self._passes, self._no_gap = 0, False

    def compiled(self, model: Any, names: dict[int, str]) -> None:
        """A model is about to be fitted."""
        self._loss = Loss(model)
        self._view.facts_seen.update(self._loss.facts())
        wanted = {id(layer): names[id(layer)] for layer in plain_layers(model) if id(layer) in names}
        self._pass, self._model, self._names = Pass(model, wanted), model, names

    def batch(self, inputs: Any, targets: Any, training: bool | None, reported: bool, *whose: Any) -> None:
        wanted = array(targets)
        if self._loss is not None and wanted is not None:
            wanted = self._loss.labels(wanted)
        self.data.look(inputs, wanted, bool(training), self._view.sampling, *whose)
        if training:
            self._latest = inputs, wanted, targets
            found = array(inputs)
            if found is not None:
                self._view.habits.batch(len(found), alone=True)  # another was peeked at to build the model

    def finish(self) -> None:
        """A sampled step was made: a pass over its batch."""
        if (
            self._pass is None
            or self._latest is None
            or self._refused
            or not self._view.wants("activations")
        ):
            return
        began = time.perf_counter()
        inputs, wanted, _ = self._latest
        try:
            self._pass.step = self.step
            readings, output, count = self._pass(inputs)
        except (TypeError, ValueError, NotImplementedError, AttributeError, RuntimeError) as error:
            self._refused = f"{type(error).__name__}: {str(error)[:200]}"
            self._view.tell(
                "not-measured", f"activations are not measured: the model cannot be called ({self._refused})"
            )
            return
        if readings:
            values = np.array([v for reading in readings.values() for v in reading])
            self._view.vectors.append(("activations", list(readings), values))
        self._quantized(self._pass, output, count)
        if output is not None and output.ndim:
            targets = None if wanted is None or len(wanted) < count else wanted[:count]
            self._compare(self._loss.scores(output) if self._loss is not None else output, targets)
        self.seconds += time.perf_counter() - began

    def _compare(self, scores: Array, targets: Array | None) -> None:
        """Facts and signals of the model's outputs and their targets."""
        facts, loss = self._view.facts_seen, self._loss
        if np.isfinite(scores).all():
            self.data.outputs(np.moveaxis(scores, -1, 1) if scores.ndim > 3 else scores)
            facts["loss_input_shape"] = "x".join(map(str, scores.shape))
        if targets is not None:
            column = scores.shape == (
                *targets.shape,
                1,
            )  # Keras gives targets the last dimension that they lack
            facts["loss_target_shape"] = "x".join(map(str, (scores if column else targets).shape))
        if scores.ndim > 1 and loss is not None and loss.name == "cross_entropy":
            facts["classes"] = int(scores.shape[-1])
        elif loss is not None and "binary" in loss.name and scores.size == len(scores):
            facts["classes"] = 2
        self._view.scalars.update(answers(scores, targets, self.data))

    def _quantized(self, seen: Pass, output: Array | None, count: int) -> None:
        """Readings of rounded weights in the pass; after some of them another pass without rounding."""
        self._view.facts_seen.update(seen.rounded.facts(plain_layers(self._model), self._names))
        if seen.quantized:
            values = np.array(list(seen.quantized.values()))
            self._view.vectors.append(("quantized", list(seen.quantized), values))
        self._passes += 1
        due = self._passes % GAP_EVERY == 1 and not self._no_gap
        if not seen.quantized or not due or self._latest is None or output is None:
            return
        inputs, _, targets = self._latest
        taken = keras.tree.map_structure(lambda part: part[:count], targets)
        try:
            apart = loss_of(self._model, taken, output) - loss_of(self._model, taken, seen.unrounded(inputs))
            self._view.scalars["quant/loss_gap"] = apart
        except (TypeError, ValueError, AttributeError) as error:  # a loss that is made in another way
            self._no_gap = True
            self._view.tell(
                "not-measured", f"what rounding costs is not measured: {str(error)[:100]}", False
            )

    def release(self) -> None:
        super().release()
        self._pass = self._latest = None


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
    """The passes of one model. `output_statistics` names no layer twice."""

    def __init__(self, model: Any, names: dict[int, str]) -> None:
        self._model, self._names = model, names
        self._units: dict[str, act.Units] = {}
        self._kinds: dict[str, act.Kind] = {}
        self._compiled: dict[bool, Callable[..., Any]] = {}  # by whether weights are exchanged
        self.rounded = Rounded()
        self._whole = self.rounded.whole_number_layers(plain_layers(model), names)
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
            units.add(act.largest_by_unit(last, False), len(rows))
            silent = float(units.silent())
        part = None if part is None else np.asarray(part, np.float32)
        return [*act.output_statistics(np.ascontiguousarray(rows, np.float32), kind, None, part), silent]

    def _outputs(self, inputs: Any, exchanged: bool = False) -> dict[str, Array]:
        """Arrays by layer, in the order of their calls; `exchanged`: weights that are rounded are used as
        kept."""
        chance, numbers = random.getstate(), np.random.get_state()
        try:
            backend = keras.backend.backend()
            pairs = mapped_variables(self._model) or [(v, v.value) for v in self._model.variables]
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
