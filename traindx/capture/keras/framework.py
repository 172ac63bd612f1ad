"""Keras 3, on each of its backends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session import Loop, RecordedProcess


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
    observed_by="""two additional variables in the loss tracker carry the loss, gradient norms and shares of zeros out
  of the compiled step. Updates and weights are read before and after sampled steps. Activations come from a separate
  forward pass in Keras's stateless scope, whose seeds, statistics and losses are discarded. Batches are read as the data
  adapter hands them over. Weights, logs and generators are the same to the last bit on all three backends, as tested.
  Where a custom train step has several optimizers, the first one counts the steps. The loss scale (`mixed_float16`) and
  the steps that it skips are recorded. In custom loops of TensorFlow, `GradientTape.gradient` and the optimizer's `apply`
  report loss, gradients, updates and weights through `numpy_function`. That is not possible in functions compiled by
  XLA, nor with several replicas: a sentence says so. On JAX, `stateless_apply` is observed as below; on PyTorch,
  `backward` and the optimizer's `apply`. Models that TensorFlow builds in their first step are recorded from the second
  step. Models trained one after the other have a record each (`model-2`). Of models that are trained in turns, the first
  one is recorded. Rounded weights are measured for float8 and int8 of `quantize` (int4 is packed, and not measured) and
  for custom layers that multiply by functions of `keras.ops`. Gradients on their way through a quantizer are not
  recorded. [Interventions](interventions.md) wrap `fit`.""",
    shows=("loss", "clock", "schedule", "gradients", "zeros", "updates", "weights", "activations", "answers", "memory",
           "quantized", "quantization gap"),
    tested_with=("keras", "tensorflow-cpu", "jax", "torch"),
    attach=attach,
    loop=loop,
    watched="Keras models",
    computes_with=("torch", "jax"),
    abilities=("experiment",),
)  # fmt: skip
