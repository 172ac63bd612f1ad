"""Change the batch size.

Make it larger when the loss is mostly noise and more steps do not lower it. Make it smaller when an
epoch has only a handful of updates, or when memory runs out. Scale the learning rate with the batch: in
proportion for SGD, with the square root for Adam.

Batch normalization needs at least 8 samples per device, and works better with 32.

Verify: compare at the same number of samples, not of steps.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    batch, samples = setup.number("batch_size"), setup.number("dataset_size")
    if not batch:
        return (
            "change the batch size fourfold: larger against noise, smaller for more updates or less memory"
        )
    if samples and samples / batch < 10:
        return (
            f"make the batch smaller, from {batch:g} to {max(1.0, batch // 8):g}, for more updates per epoch"
        )
    less = f"to {max(1.0, batch // 4):g} for more updates or less memory"
    return f"change the batch from {batch:g} to {batch * 4:g} against noise, {less}"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("batch-too-small", "batch-too-large", "stale-normalization-statistics", "out-of-memory"),
    expected="a larger batch gives less noise and a lower loss; a smaller one gives more updates per epoch",
    touches=("batch_size",),
    interventions=("batch=*4", "batch=*0.25"),
)
