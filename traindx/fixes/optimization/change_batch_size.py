"""Change the batch size.

Larger when the loss is mostly noise and more steps do not lower it; smaller when an epoch has only a handful of
updates, or when memory runs out. Scale the learning rate with the batch (in proportion for SGD, with its square
root for Adam).

Batch normalization wants at least 8, better 32 samples per device.

Verify: compare at the same number of samples seen, not of steps.
"""

from traindx.fixes.api import Fix, Setup, page


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
    less, more = max(1.0, batch // 4), batch * 4
    return f"change the batch from {batch:g} to {more:g} against noise, to {less:g} for more updates or less memory"


FIX = Fix(
    slug="change-batch-size",
    title="Change the batch size",
    applicability="runtime",
    causes=("batch-too-small", "batch-too-large", "stale-normalization-statistics", "out-of-memory"),
    expected="less noise and a lower floor (larger), or more updates per epoch (smaller)",
    page=page(__doc__),
    propose=propose,
    touches=("batch_size",),
    interventions=("batch=*4", "batch=*0.25"),
)
