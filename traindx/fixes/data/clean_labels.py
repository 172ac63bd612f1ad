"""Clean the labels.

Rank training samples by their loss under cross-validation and look at the worst hundred; correct or drop what is
wrong. Until then: early stopping, label smoothing, a loss that forgives outliers.

Verify: the share of wrong labels among the worst falls.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "look at the training samples with the highest loss, and correct or drop wrong labels"


FIX = Fix(
    slug="clean-labels",
    title="Clean the labels",
    applicability="advice",
    causes=("label-noise", "misaligned-labels"),
    expected="a lower floor and later overfitting",
    page=page(__doc__),
    propose=propose,
)
