"""Divide the loss by the accumulation steps.

Divide the loss of each micro-batch by the number of micro-batches. For token-level losses divide by the
token count of all of them together, because micro-batches differ in length. Clip and step once per
group.

Verify: the gradient norm does not depend on the number of micro-batches.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    n = setup.number("accumulation")
    if n and n > 1:
        return f"divide each loss by {n:g} before backward"
    return "divide each loss by the number of accumulated batches"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("unscaled-grad-accumulation",),
    expected="the curve equals that of one large batch",
    interventions=("loss=/accumulation",),
)
