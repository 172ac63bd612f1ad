"""Loosen the gradient clipping.

Log the gradient norm before clipping and set the limit to about twice its median, so that clipping acts
only on exceptions. Clipping each element by value changes the direction of the gradient; prefer clipping
by norm.

Verify: fewer than a tenth of the steps are clipped.
"""

from traindx.fixes.api import fix, propose_scaled

FIX = fix(
    __name__,
    __doc__,
    propose=propose_scaled(
        "clip_norm", 10, "raise the clip norm", ", to about twice the usual gradient norm"
    ),
    idioms={
        "keras": "global_clipnorm or clipnorm of the optimizer",
        "jax": "optax.clip_by_global_norm",
    },
    applicability="runtime",
    causes=("clip-too-tight",),
    expected="updates become larger and the loss falls faster",
    touches=("clip_norm",),
    interventions=("clip=*10", "clip=off"),
)
