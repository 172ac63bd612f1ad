"""Raise the learning rate.

If the gradients are healthy and the loss creeps along a straight line, each update is simply too short. Raise by
ten, watch the first hundred steps, and fall back to three times if the loss rises.

A rate this small is often a leftover: of fine-tuning, of a smaller batch, of a rate that was divided by the number
of devices or accumulation steps.

Verify: the fall per step grows in proportion; no rise in the first hundred steps.
"""

from traindx.fixes.api import Fix, Setup, page, scaled


def propose(setup: Setup) -> str:
    return scaled(setup, "lr", 10, "raise", "learning rate")


FIX = Fix(
    slug="raise-learning-rate",
    title="Raise the learning rate",
    applicability="runtime",
    causes=("learning-rate-too-low", "batch-too-large", "undertrained", "unsuitable-optimizer"),
    expected="the slope of the loss grows about tenfold",
    page=page(__doc__),
    propose=propose,
    touches=("lr",),
    interventions=("lr=*10",),
)
