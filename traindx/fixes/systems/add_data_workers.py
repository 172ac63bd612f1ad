"""Feed data faster.

More worker processes (about as many as there are free cores, 4 to 8 per accelerator; far more makes it worse),
persistent and with prefetching, one thread each (OMP_NUM_THREADS=1); decode and resize once and cache; fast local
disks; large files instead of many small ones; augmentation on the accelerator. Spread work evenly over ranks.

Verify: repeat one batch from memory for the best that is possible, and compare.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    n = setup.number("workers")
    if n is not None and n > 8:
        return (
            f"use 4 to 8 data workers instead of {n:g}, with OMP_NUM_THREADS=1, and a faster disk or a cache"
        )
    instead = "" if n is None else f" instead of {n:g}"
    return f"use 4 to 8 data workers{instead}, persistent, with prefetching; cache decoded data"


FIX = Fix(
    slug="add-data-workers",
    title="Feed data faster",
    applicability="runtime",
    causes=("data-loader-bottleneck", "straggler-rank"),
    expected="the waiting time per step goes to almost zero",
    page=page(__doc__),
    propose=propose,
    touches=("workers",),
    interventions=("workers=8",),
)
