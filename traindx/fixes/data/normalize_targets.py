"""Normalize the targets.

Subtract the mean of the training targets and divide by their standard deviation (or take logarithms).
Undo this when reporting predictions. Alternatively, set the output bias to the mean.

Verify: the first squared error is about 1.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="standardize the regression targets with the mean and standard deviation of the training data",
    applicability="patch",
    causes=("unnormalized-targets", "wrong-output-activation"),
    expected="the loss starts near 1 and falls at once",
    interventions=("targets=standardize",),
)
