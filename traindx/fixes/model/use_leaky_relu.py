"""Use LeakyReLU, ELU or GELU.

A small slope for negative inputs (0.01) keeps the gradient from becoming zero. If the units died after
one large step, also lower the learning rate or clip gradients, or they will die again.

Verify: fewer than a few percent of the units are zero on all data.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="use LeakyReLU(0.01) or GELU instead of ReLU",
    idioms={
        "keras": 'activation="leaky_relu"',
        "jax": "jax.nn.leaky_relu",
    },
    applicability="runtime",
    causes=("dead-relus",),
    expected="dead units become active again and the loss gets lower",
    interventions=("activation=leaky_relu",),
)
