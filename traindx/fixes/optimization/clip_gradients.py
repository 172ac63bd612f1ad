"""Clip the gradient norm.

Scale the gradient down whenever its global norm exceeds a limit: 1.0, or slightly above its usual value,
so that clipping acts only on exceptions. Clip after the backward pass (and after unscaling, with mixed
precision) and before the optimizer's step, in the same way on every process.

If clipping acts on every step, it is a second learning rate; lower the learning rate instead.

Verify: a few percent of the steps are clipped, and spikes in the loss are gone or smaller.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    limit = setup.number("clip_norm")
    if limit:
        return f"lower the clip norm from {limit:g} to {limit / 2:g}"
    return "clip the global gradient norm at 1.0"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "keras": "global_clipnorm of the optimizer",
        "jax": "optax.clip_by_global_norm before the optimizer",
    },
    applicability="runtime",
    causes=("exploding-recurrence", "learning-rate-too-high", "corrupt-samples", "missing-warmup"),
    expected="spikes of the gradient norm no longer reach the weights",
    touches=("clip_norm",),
    interventions=("clip=1.0",),
)
