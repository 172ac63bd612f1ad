"""Accumulate gradients over smaller batches.

n micro-batches of a n-th of the size, each loss divided by n, one optimizer step. Batch norm sees the micro-batch
only.

Verify: the curve equals that of the large batch.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    batch = setup.number("batch_size")
    if batch and batch >= 8:
        return f"4 micro-batches of {batch / 4:g} instead of a batch of {batch:g} (for less noise: 4 batches of {batch:g})"
    return "accumulate over 4 to 8 micro-batches"


FIX = Fix(
    slug="accumulate-gradients",
    title="Accumulate gradients over smaller batches",
    applicability="runtime",
    causes=("out-of-memory", "batch-too-small"),
    expected="the same updates with less memory (or less noise with the same memory)",
    page=page(__doc__),
    propose=propose,
    touches=("accumulation", "batch_size"),
    interventions=("accumulate=4",),
)
