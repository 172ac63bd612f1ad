"""Step the optimizer.

optimizer.step() after every backward pass (or every n-th when accumulating), not under a condition that never
holds; with a gradient scaler scaler.step(optimizer) and scaler.update(). Without automatic optimization in
Lightning it is yours to call.

Verify: any weight differs after a step.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "call optimizer.step() after backward, in every step"


FIX = Fix(
    slug="step-the-optimizer",
    title="Step the optimizer",
    applicability="patch",
    causes=("missing-optimizer-step",),
    expected="weights change in every step",
    page=page(__doc__),
    propose=propose,
)
