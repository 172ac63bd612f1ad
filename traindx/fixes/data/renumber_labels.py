"""Renumber the labels.

A label, or the index of a token, is negative or larger than the model has outputs (rows, for an embedding).
Print the smallest and the largest one. Number labels from 0 without gaps, give the last layer one output for
each class, and mark what the loss should pass over by its `ignore_index`.

Verify: the smallest label is 0, and the largest is the number of outputs less 1.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    if "labels-out-of-range" not in setup.word("findings").split():
        return ""
    return (
        "print the smallest and the largest label (or index): they have to be 0 or more, and less than the number of "
        "outputs of the last layer (rows, for an embedding)"
    )


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("misaligned-labels",),
    expected="the run passes the line at which it stopped",
)
