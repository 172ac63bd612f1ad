"""Scale the loss dynamically.

Under float16 multiply the loss by a scale that halves at every overflow and doubles after 2000 good steps
(GradScaler); unscale before clipping; skip the step on overflow. A scale that keeps falling says that something
else overflows: look at the learning rate and at the first non-finite module.

Verify: the scale settles and hardly a step is skipped.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "use a dynamic loss scaler, unscale before clipping, and skip steps that overflow"


FIX = Fix(
    slug="scale-loss",
    title="Scale the loss dynamically",
    applicability="patch",
    causes=("half-precision-range",),
    expected="few skipped steps after the start, no vanishing gradients",
    page=page(__doc__),
    propose=propose,
    interventions=("loss_scale=dynamic",),
)
