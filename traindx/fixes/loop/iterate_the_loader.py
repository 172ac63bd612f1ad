"""Iterate over the whole loader.

for batch in loader, with one iterator per epoch; next(iter(loader)) inside the loop begins anew each time. Remove
limits that were left in for debugging, and give each worker its own seed.

Verify: the inputs of consecutive steps differ, and an epoch sees all samples.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "loop over the loader instead of calling next(iter(loader)) in each step"


FIX = Fix(
    slug="iterate-the-loader",
    title="Iterate over the whole loader",
    applicability="patch",
    causes=("repeated-batch",),
    expected="training is slower at first, and validation improves",
    page=page(__doc__),
    propose=propose,
)
