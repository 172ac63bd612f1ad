"""Release what is kept each step.

Store loss.item() or loss.detach(), never the loss. Detach hidden states that are carried over, evaluate
under no_grad, close figures, limit the size of histories and caches, and do not register hooks in the
loop.

Verify: memory is constant after the first epoch.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="keep loss.item() instead of the loss, detach carried states, and evaluate under no_grad",
    applicability="patch",
    causes=("step-time-creep", "memory-leak", "out-of-memory"),
    expected="memory and step time stay constant",
)
