"""Scale the loss dynamically.

With float16, multiply the loss by a scale that halves at every overflow and doubles after 2,000 good
steps (GradScaler). Unscale before clipping, and skip the step on overflow. A scale that keeps falling
means that something else overflows: check the learning rate and the first non-finite module.

Verify: the scale settles and hardly any step is skipped.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="use a dynamic loss scaler, unscale before clipping, and skip steps that overflow",
    applicability="patch",
    causes=("half-precision-range",),
    expected="few steps are skipped after the start, and no gradients underflow",
    interventions=("loss_scale=dynamic",),
)
