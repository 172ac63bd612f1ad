"""Skip steps with non-finite gradients.

Before the optimizer's step check the global norm; if it is not finite, zero the gradients, count, and go on. It is
a safety net: count the skips, log the batch, and look for the cause when there are more than a few, or always at
the same data.

Verify: the count stays small.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "skip the optimizer step when the gradient norm is not finite, and log the batch that caused it"


FIX = Fix(
    slug="skip-nonfinite-steps",
    title="Skip steps with non-finite gradients",
    applicability="runtime",
    causes=("half-precision-range", "corrupt-samples", "fully-masked-labels", "unstable-numerics"),
    expected="isolated bad batches no longer ruin the weights",
    page=page(__doc__),
    propose=propose,
    interventions=("skip_nonfinite=on",),
)
