"""Step the optimizer.

Call optimizer.step() after every backward pass (or every n-th when accumulating), not under a condition
that is never true. With a gradient scaler call scaler.step(optimizer) and scaler.update(). With manual
optimization in Lightning you call it yourself.

Verify: any weight differs after a step.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="let the optimizer change the weights in every step",
    idioms={
        "torch": "optimizer.step() after backward",
        "keras": "optimizer.apply(gradients, model.trainable_weights)",
        "jax": "keep what optax.apply_updates returns, and the new state",
    },
    applicability="patch",
    causes=("missing-optimizer-step",),
    expected="the weights change in every step",
)
