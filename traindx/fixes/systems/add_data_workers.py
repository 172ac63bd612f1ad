"""Feed data faster.

Use more worker processes: about as many as there are free cores, 4 to 8 per accelerator (far more slows
loading down). Make them persistent and prefetching, with one thread each (OMP_NUM_THREADS=1). Decode and
resize once and cache the result. Use fast local disks and large files instead of many small ones, and
augment on the accelerator. Spread the work evenly over ranks.

Verify: compare with the time of a step that repeats one batch from memory, which is the best possible.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    n = setup.number("workers")
    if n is not None and n > 8:
        return (
            f"use 4 to 8 data workers instead of {n:g}, with OMP_NUM_THREADS=1, and a faster disk or a cache"
        )
    instead = "" if n is None else f" instead of {n:g}"
    return f"use 4 to 8 data workers{instead}, persistent, with prefetching; cache decoded data"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="runtime",
    causes=("data-loader-bottleneck", "straggler-rank"),
    expected="a step hardly waits for data any more",
    touches=("workers",),
    interventions=("workers=8",),
)
