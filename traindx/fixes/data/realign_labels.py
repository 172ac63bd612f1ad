"""Bring inputs and labels together again.

Inputs and labels must go through the same shuffling, filtering and joining: one table, one permutation, joins by
key. Print ten samples with their labels as the model gets them, from training and from validation; compare the
label maps of both.

Verify: real labels learn far faster than permuted ones.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "join inputs and labels by key and shuffle them with one permutation; look at ten pairs as the model gets them"


FIX = Fix(
    slug="realign-labels",
    title="Bring inputs and labels together again",
    applicability="patch",
    causes=("misaligned-labels", "val-preprocessing-mismatch"),
    expected="validation leaves chance within the first epoch",
    page=page(__doc__),
    propose=propose,
)
