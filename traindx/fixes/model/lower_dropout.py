"""Lower the dropout.

Usual values are 0.1 to 0.3, and 0.5 for wide fully connected layers; convolution and attention blocks
use less. Dropout reduces overfitting. Without a generalization gap it only slows learning.

Verify: training loss (measured in eval mode) and validation loss both improve.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    now = setup.number("dropout")
    if now is None:
        return "lower the dropout to 0.1, or to 0 as a test"
    return f"lower the dropout from {now:g} to {now / 3:.2g}" if now > 0 else ""


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("dropout-too-high", "insufficient-capacity"),
    expected="the training loss falls and the validation loss follows",
    interventions=("dropout=*0.33",),
)
