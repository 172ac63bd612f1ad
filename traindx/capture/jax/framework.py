"""JAX, in loops whose steps are made by an optimizer of optax or Keras."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session.loop import Loop
    from traindx.capture.session.recorded_process import RecordedProcess


def attach(process: RecordedProcess) -> None:
    if find_spec("optax") or find_spec("keras"):  # without either, no step could be recorded
        from traindx.capture.jax.launched import Launched

        Launched(process)


def loop(model: Any, optimizer: Any, out: Path | None, scaler: Any, options: dict[str, Any]) -> Loop | None:
    if "optax" not in sys.modules:
        return None
    from traindx.capture.jax.discover import JaxLoop, watches

    return JaxLoop(model, optimizer, out, **options) if watches(model, optimizer) else None


JAX = Framework(
    name="jax",
    label="JAX",
    title="JAX with optax: Flax, Equinox, plain trees",
    started_by="`traindx run`; `traindx.watch` with `traindx.optax.monitor` (loss and gradient norms)",
    observed_by="""`jax.value_and_grad`, `jax.grad`, an optax optimizer's `update`, losses and activations report to the
  host what they compute, through a primitive without results: `jit`, `vmap`, `scan` and `remat` keep it, derivatives
  pass it by. Weights and optimizer states are the same to the last bit, as tested on a CPU; the loss that a script
  prints may differ in its last digit, as the compiler may sum it in another order. Activations are those called by
  `jax.nn` and `jax.numpy` (`relu`, `relu#2` in the order of their calls). Steps are made by an optimizer of optax or,
  with `stateless_apply`, of Keras. Not seen: other loops, `pmap`.""",
    shows=("loss", "clock", "schedule", "gradients", "zeros", "updates", "weights", "activations", "answers", "memory"),
    tested_with=("jax", "optax"),
    attach=attach,
    loop=loop,
    watched="trees of JAX's arrays with the state of an optax optimizer",
)  # fmt: skip
