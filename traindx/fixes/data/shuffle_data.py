"""Shuffle the training data.

Shuffle samples, not batches, and reshuffle in every epoch: shuffle=True, `set_epoch` for distributed
samplers, a shuffle buffer larger than any sorted stretch for streams. Keep the order of time only where
the model needs it.

Verify: each batch has about the class proportions of the whole data set.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    if setup.flag("shuffle"):
        return ""
    now = " (shuffle is off now)" if setup.flag("shuffle") is False else ""
    return f"shuffle the samples in every epoch{now}"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "torch": "DataLoader(shuffle=True)",
        "keras": "shuffle=True in fit",
        "jax": "a new permutation each epoch",
    },
    applicability="runtime",
    causes=("unshuffled-data", "repeated-batch"),
    expected="the saw-tooth pattern within each epoch is gone",
    interventions=("data=shuffle",),
)
