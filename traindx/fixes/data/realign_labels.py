"""Bring inputs and labels together again.

Inputs and labels must go through the same shuffling, filtering and joining: one table, one permutation, joins by
key. Print ten samples with their labels as the model gets them, from training and from validation; compare the
label maps of both.

Verify: real labels learn far faster than permuted ones.
"""

from __future__ import annotations

from traindx.fixes.words import page
from traindx.vocabulary.fix import Fix
from traindx.vocabulary.setup import Setup


def propose(setup: Setup) -> str:
    return (
        "join inputs and labels by key and shuffle them with one permutation; look at ten pairs as the model gets them"
    )


FIX = Fix(
    slug="realign-labels",
    title="Bring inputs and labels together again",
    applicability="patch",
    causes=("misaligned-labels", "val-preprocessing-mismatch"),
    expected="validation leaves chance within the first epoch",
    page=page(__doc__),
    propose=propose,
)
