"""Lower the learning rate.

Try a tenth of the rate first, because the right one is usually known only to a factor of three. If that
trains but slowly, go back up in steps of three. A learning-rate range test (`traindx find-lr`) finds the
limit directly.

First check whether the inputs are scaled and whether a warm-up is missing: both make a usual rate look
too high, and a lower rate only hides them. When the batch becomes larger or smaller, scale the rate with
it.

Verify: with the same seed the loss falls within a hundred steps, and the gradient norm stops growing.
"""

from traindx.fixes.api import fix, propose_scaled

FIX = fix(
    __name__,
    __doc__,
    propose=propose_scaled("lr", 0.1, "lower the learning rate"),
    applicability="runtime",
    causes=(
        "learning-rate-too-high",
        "unscaled-grad-accumulation",
        "momentum-too-high",
        "dead-relus",
        "half-precision-range",
        "quantized-layer-gradient-imbalance",
        "missing-warmup",
    ),
    expected="the loss falls within the first hundred steps and stops oscillating",
    touches=("lr",),
    interventions=("lr=*0.1",),
)
