"""Switch back to train mode.

Call model.train() at the start of each training epoch, which is after every evaluation. Call .eval()
again on layers that are meant to stay frozen.

Verify: model.training is True in every training step.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="call model.train() after each evaluation",
    applicability="runtime",
    causes=("eval-mode-training",),
    expected="dropout and batch statistics are active again",
    interventions=("mode=train",),
)
