"""Keras 3, on each of its backends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session.loop import Loop
    from traindx.capture.session.recorded_process import RecordedProcess


def attach(process: RecordedProcess) -> None:
    from traindx.capture.keras.launched import Launched

    Launched(process)


def loop(model: Any, optimizer: Any, out: Path | None, scaler: Any, options: dict[str, Any]) -> Loop | None:
    from traindx.capture.keras.watching import KerasLoop, watches

    return KerasLoop(model, optimizer, out, **options) if watches(model) else None


KERAS = Framework(
    name="keras",
    label="Keras",
    title="Keras 3 on TensorFlow, JAX, PyTorch",
    started_by="`traindx run`, `traindx.watch`, `traindx.keras.Watch`, `traindx check`, `fix`, `investigate`, `--with`",
    observed_by="""two more variables in the loss tracker hold loss, gradient norms and shares of zeros out of the
  compiled step. Updates and weights are read around sampled steps. Activations are those of a separate forward pass in
  Keras's stateless scope, whose seeds, statistics and losses are thrown away. Batches are read on their way from the
  data's adapter. Weights, logs and generators are the same to the last bit on all three backends, as tested. Of several
  optimizers in a custom train step the first counts the steps. A loss scale (`mixed_float16`) is recorded, and so are
  the steps that it skips. In custom loops, `GradientTape.gradient` and the optimizer's `apply` of TensorFlow report
  loss, gradients, updates and weights through `numpy_function` (not in functions compiled by XLA, nor over replicas:
  a sentence says so); on JAX `stateless_apply` is observed as below; on PyTorch `backward` and the optimizer's `apply`.
  Models that TensorFlow builds with their first step are recorded from the second. Models trained one after the other
  have a record each (`model-2`); of models that take turns the first one is recorded. Rounded weights: float8 and int8
  of `quantize` (those of int4 are packed, and not measured), and custom layers that multiply by functions of
  `keras.ops`; what becomes of gradients on their way through a quantizer is not seen.
  [Interventions](interventions.md) wrap `fit`.""",
    shows=("loss", "clock", "schedule", "gradients", "zeros", "updates", "weights", "activations", "answers", "memory",
           "quantized", "quantization gap"),
    tested_with=("keras", "tensorflow-cpu", "jax", "torch"),
    attach=attach,
    loop=loop,
    watched="Keras models",
    computes_with=("torch", "jax"),
    abilities=("experiment",),
)  # fmt: skip
