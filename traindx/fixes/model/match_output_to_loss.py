"""Match the last layer to the targets.

Use no activation before cross-entropy or a squared error, a sigmoid only with plain binary
cross-entropy, one output per class, and for positive targets a softplus or the logarithm of the target.

Verify: on one batch the outputs cover the range of the targets.
"""

from traindx.fixes.api import Setup, first_known, fix

LINEAR = first_known(
    (
        "end in a linear layer with {classes:g} outputs",
        "end in a linear layer whose range covers the targets",
    )
)


def propose(setup: Setup) -> str:
    if "outputs-out-of-range" in setup.word("findings").split():
        return "put a sigmoid before the plain binary cross-entropy, or use its variant for logits"
    return LINEAR(setup)


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=("wrong-output-activation", "wrong-loss"),
    expected="the loss falls below its former floor",
)
