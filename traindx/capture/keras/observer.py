"""What is observed of a training in Keras next to gradients and weights: batches, and the model's outputs
for them."""

from __future__ import annotations

import time
from typing import Any

import keras
import numpy as np

from traindx.capture.arrays.answers import answers
from traindx.capture.arrays.data import Array
from traindx.capture.compiled.reported import BatchObserver
from traindx.capture.keras.facts import Loss, plain_layers
from traindx.capture.keras.passes import Pass
from traindx.capture.keras.rounded import loss_of
from traindx.capture.session.watched import Watched

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
