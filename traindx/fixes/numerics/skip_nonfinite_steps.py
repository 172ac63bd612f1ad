"""Skip steps with non-finite gradients.

Check the global gradient norm before the optimizer's step. If it is not finite, zero the gradients,
count the skip, and go on. This is only a safety net: log the skipped batches, and look for the cause
when there are more than a few skips or when they repeat at the same data.

Verify: the count stays small.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="skip the optimizer step when the gradient norm is not finite, and log the batch that caused it",
    idioms={
        "jax": "optax.apply_if_finite",
    },
    applicability="runtime",
    causes=("half-precision-range", "corrupt-samples", "fully-masked-labels", "unstable-numerics"),
    expected="isolated bad batches no longer damage the weights",
    interventions=("skip_nonfinite=on",),
)
