"""ENV008 memory-too-small."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV008",
    needs=("setup:memory_available", "setup:memory_needed"),
    min_points=1,
    severity="medium",
    message="the run needs about {needed:.2g} GB of memory, and the {place} has {there:.2g} GB",
)
def memory_too_small(
    run: Run,
    features: Features,
    *,
    full: float = threshold(0.95, "of the memory", "convention", "the rest is the system's"),
    gigabyte: float = threshold(1e9, "bytes", "theory", "the unit of the message"),
) -> Iterator[Evidence]:
    """Weights, gradients, optimizer state and activations do not fit into the memory.

    ## What it sees
    The larger of what the first steps used and of an estimate (weights, as much again for gradients, the
    optimizer's state, and the activations that the backward pass keeps), beside the memory of the device.

    ## Why it matters
    The run ends with out of memory, at the latest in the first evaluation or with the longest batch.

    ## When it is wrong
    Checkpointed activations, offloading and sharding need less than the estimate says.

    ## What to try
    A smaller batch with gradient accumulation, bfloat16, activation checkpointing.

    ## Sources
    Rajbhandari et al. (2020), ZeRO: Memory optimizations toward training trillion parameter models.
    """
    there, needed = run.setup.number("memory_available") or 0.0, run.setup.number("memory_needed") or 0.0
    if there <= 0 or needed <= full * there:
        return
    yield Evidence(
        values={
            "needed": needed / gigabyte,
            "there": there / gigabyte,
            "place": str(run.setup.known("memory_of") or "machine"),
        },
        points=(EvidencePoint("memory_needed", None, needed, full * there, "bytes"),),
    )
