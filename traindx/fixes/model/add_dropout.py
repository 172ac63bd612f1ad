"""Add dropout.

Use 0.1 to 0.3 before fully connected layers and after attention, but not between a convolution and its
batch norm. Dropout must be off in evaluation.

Verify: the lowest validation loss improves over at least three seeds.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    now = setup.number("dropout")
    return (
        f"raise the dropout from {now:g} to {min(0.5, now + 0.1):g}" if now else "add dropout of 0.1 to 0.3"
    )


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("insufficient-regularization", "too-little-data"),
    expected="the training loss rises a little and the validation loss falls",
    interventions=("dropout=0.2",),
)
