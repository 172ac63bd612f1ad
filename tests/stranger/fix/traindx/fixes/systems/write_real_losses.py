"""Log the loss that the step computed.

Log the value of the tensor that `backward` is called on, not a number that is set elsewhere.

Verify: the logged loss differs from step to step.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="log the loss of each step instead of a constant",
    applicability="patch",
    causes=("placeholder-loss",),
    expected="the log shows the loss that is trained on",
)
