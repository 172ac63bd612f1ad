"""docs/frameworks.md: what each framework can show."""

from __future__ import annotations

from traindx.capture.launch.shown import HOW, SHOWN, TITLES
from traindx.capture.signals import catalogue

HEAD = """# What each framework can show

The same signals, names and facts, so the same rules and causes. Losses, metrics and their validation are seen in all; a
dash is not seen yet. [What is recorded](capture.md) tells how each is measured.
"""
TAIL = """
## How it is seen, and what that costs
- **PyTorch**: hooks and thin wrappers; bit-identical.
- **Keras**: two more variables in the loss tracker hold loss, gradient norms and shares of zeros out of the compiled
  step; updates and weights are read around sampled steps; activations by a pass of their own in Keras's stateless
  scope (seeds, statistics and losses of it go nowhere); batches on their way from the data's adapter. Weights, logs
  and generators are the same to the last bit on all three backends, as tested. Several optimizers in a train step of
  one's own (the first counts the steps), and a loss scale (`mixed_float16`; steps left out are told as such). Loops of
  one's own: in TensorFlow `GradientTape.gradient` and the optimizer's `apply` tell loss, gradients, updates and weights
  through `numpy_function` (not of functions compiled by XLA, nor over replicas: said in a sentence); on JAX
  `stateless_apply` as below; on PyTorch `backward` and the optimizer's `apply`. Models that TensorFlow builds with
  their first step are recorded from the second. Models trained one after the other have a record each (`model-2`); of
  models that take turns the first one is recorded. Rounded weights: float8 and int8 of `quantize` (those of int4 are
  packed, and not measured), layers
  of one's own that multiply by functions of `keras.ops`; what becomes of gradients on their way
  through a quantizer is not seen. [Interventions](interventions.md) by wrapping `fit`.
- **JAX**: `jax.value_and_grad`, `jax.grad`, an optax optimizer's `update`, losses and activations tell the host what
  they compute, through a primitive without results: `jit`, `vmap`, `scan` and `remat` keep it, derivatives pass it by.
  Weights and optimizer states are the same to the last bit, as tested on a CPU; the loss that a script prints may
  differ in its last digit, as the compiler may sum it in another order. Activations are those called by `jax.nn` and
  `jax.numpy` (`relu`, `relu#2` in the order of their calls). Steps are made by an optimizer of optax or, with
  `stateless_apply`, of Keras. Not seen: other loops, `pmap`.
- **Boosting, scikit-learn**: by the callbacks that they have; without evaluation sets nothing is recorded.

`python -m benchmarks.frames` trains one set of twelve faults and six healthy twins in each
([benchmarks](benchmarks.md)).
"""


def page() -> str:
    rows = ["| | " + " | ".join(TITLES[name] for name in SHOWN) + " |", "|---|" + "---|" * len(SHOWN)]
    for family in catalogue():
        there = ["yes" if family.kind in SHOWN[name] else "–" for name in SHOWN]
        names = ", ".join(f"`{name}`" for name in family.signals)
        rows.append(f"| {names} | " + " | ".join(there) + " |")
    rows.append("| started by | " + " | ".join(HOW[name] for name in SHOWN) + " |")
    return HEAD + "\n" + "\n".join(rows) + "\n" + TAIL
