"""Clean the labels.

Rank the training samples by their cross-validated loss, inspect the hundred worst, and correct or drop
wrong labels. Until then, early stopping, label smoothing or a robust loss limits the damage.

Verify: the share of wrong labels among the worst samples falls.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="inspect the training samples with the highest loss, and correct or drop wrong labels",
    applicability="advice",
    causes=("label-noise", "misaligned-labels"),
    expected="the training loss reaches a lower value and overfitting starts later",
)
