"""Divide the loss by the accumulation steps.

Divide each micro-batch's loss by their number (for token-level losses: by the total count of tokens in all of them,
since micro-batches differ). Clip and step once per group.

Verify: the gradient norm does not depend on the number of micro-batches.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    n = setup.number("accumulation")
    return (
        f"divide each loss by {n:g} before backward"
        if n and n > 1
        else "divide each loss by the number of accumulated batches"
    )


FIX = Fix(
    slug="scale-accumulated-loss",
    title="Divide the loss by the accumulation steps",
    applicability="patch",
    causes=("unscaled-grad-accumulation",),
    expected="the same curve as with one large batch",
    page=page(__doc__),
    propose=propose,
    interventions=("loss=/accumulation",),
)
