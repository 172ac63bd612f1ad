"""Normalize the targets.

Subtract the mean and divide by the deviation of the training targets (or take logarithms), and turn predictions
back for reports. Alternatively set the output bias to the mean.

Verify: the first squared error is about 1.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "standardize the regression targets with the training mean and deviation"


FIX = Fix(
    slug="normalize-targets",
    title="Normalize the targets",
    applicability="patch",
    causes=("unnormalized-targets", "wrong-output-activation"),
    expected="the loss starts near 1 and falls at once",
    page=page(__doc__),
    propose=propose,
    interventions=("targets=standardize",),
)
