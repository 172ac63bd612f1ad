"""Shuffle the training data.

Shuffle samples, not batches, anew in every epoch (shuffle=True, set_epoch for distributed samplers; for streams a
buffer larger than any sorted stretch). Keep the order of time only where the model needs it.

Verify: the classes in a batch look like those of the whole.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    if setup.flag("shuffle"):
        return ""
    now = " (shuffle is off now)" if setup.flag("shuffle") is False else ""
    return f"shuffle the samples in every epoch{now}"


FIX = Fix(
    slug="shuffle-data",
    title="Shuffle the training data",
    applicability="runtime",
    causes=("unshuffled-data", "repeated-batch"),
    expected="the saw-tooth of each epoch is gone",
    page=page(__doc__),
    propose=propose,
    interventions=("data=shuffle",),
)
