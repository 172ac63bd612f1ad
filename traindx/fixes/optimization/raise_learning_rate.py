"""Raise the learning rate.

If the gradients are healthy and the loss falls slowly along a straight line, each update is simply too
small. Raise the rate tenfold and watch the first hundred steps; if the loss rises, use three times the
old rate.

A rate this small is often left over from fine-tuning, from a smaller batch, or from dividing by the
number of devices or accumulation steps.

Verify: the loss falls faster in proportion, and does not rise in the first hundred steps.
"""

from traindx.fixes.api import fix, propose_scaled

FIX = fix(
    __name__,
    __doc__,
    propose=propose_scaled("lr", 10, "raise the learning rate"),
    applicability="runtime",
    causes=("learning-rate-too-low", "batch-too-large", "undertrained", "unsuitable-optimizer"),
    expected="the loss falls about ten times faster",
    touches=("lr",),
    interventions=("lr=*10",),
)
