"""Iterate over the whole loader.

Write `for batch in loader`, with one iterator per epoch: `next(iter(loader))` inside the loop starts
over each time. Remove limits left from debugging, and give each worker a different seed.

Verify: the inputs of consecutive steps differ, and an epoch sees all samples.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="loop over the loader instead of calling next(iter(loader)) in each step",
    applicability="patch",
    causes=("repeated-batch",),
    expected="the training loss falls more slowly at first, and the validation loss improves",
)
