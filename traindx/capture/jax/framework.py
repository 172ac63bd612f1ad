"""JAX, in loops whose steps are made by an optimizer of optax or Keras, or by the script itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from traindx.capture.framework import Framework

if TYPE_CHECKING:
    from traindx.capture.session import Loop, RecordedProcess


def attach(process: RecordedProcess) -> None:
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
    title="JAX, alone or with optax: Flax, Equinox, plain trees",
    started_by="`traindx run`, `traindx check`, `fix`, `investigate`, `--with`; `traindx.watch` with "
    "`traindx.optax.monitor` (loss and gradient norms)",
    observed_by="""`jax.value_and_grad`, `jax.grad`, an optax optimizer's `update`, losses and activations send what
  they compute to the host. They do so through a primitive that returns nothing: `jit`, `vmap`, `scan` and `remat` keep
  it, and derivatives ignore it. Weights and optimizer states are the same to the last bit, as tested on a CPU. The loss
  that a script prints may differ in its last digit, because the compiler may add it up in another order. Recorded
  activations are those of `jax.nn` and `jax.numpy` (`relu`, `relu#2`, in the order of the calls). A step is counted when
  an optimizer of optax makes it, or one of Keras with `stateless_apply`. Where no such optimizer is made, each
  gradient by the parameters counts as a step; its learning rate is not known. In a `scan` or `fori_loop` over 1000
  steps or more, the first 500 steps and the last one are reported. In between, as many are reported as fit into a fifth
  of the time. A step that is compiled by itself (`jit`) and called in such a loop is reported each time. `pmap` is
  not recorded. [Interventions](interventions.md) change how an optimizer of optax is made. Loops without one can only
  be started with other seeds and for fewer steps.""",
    shows=("loss", "clock", "schedule", "gradients", "zeros", "updates", "weights", "activations", "answers", "memory"),
    tested_with=("jax", "optax"),
    optimizers=("optax",),
    attach=attach,
    loop=loop,
    abilities=("experiment",),
    watched="trees of JAX's arrays with the state of an optax optimizer",
)  # fmt: skip
