"""Match inputs and labels again.

Inputs and labels must go through the same shuffling, filtering and joining: keep them in one table,
shuffle with one permutation, join by key. Print ten samples with their labels as the model receives
them, from training and from validation, and compare both label maps.

Verify: the model learns real labels far faster than permuted ones.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "join inputs and labels by key, shuffle them with one permutation, and inspect ten pairs "
        "as the model receives them"
    ),
    applicability="patch",
    causes=("misaligned-labels", "val-preprocessing-mismatch"),
    expected="the validation score rises above chance within the first epoch",
)
