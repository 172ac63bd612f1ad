"""ENV008 memory-too-small."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="ENV008",
    needs=("setup:memory_available", "setup:memory_needed"),
    min_points=1,
    severity="medium",
    message="the run needs about {needed:.2g} GB of memory, but the {place} has {there:.2g} GB",
)
def memory_too_small(
    run: Run,
    features: Features,
    *,
    full: float = threshold(0.95, "of the memory", "convention", "the system needs the rest"),
    gigabyte: float = threshold(1e9, "bytes", "theory", "the unit of the message"),
) -> Iterator[Evidence]:
    """Weights, gradients, optimizer state and activations do not fit into memory.

    ## What it sees
    The memory of the device is too small for the larger of two numbers: the memory of the first steps, and
    an estimate. The estimate adds the weights, the same again for gradients, the optimizer state, and the
    activations for the backward pass.

    ## Why it matters
    The run ends with an out-of-memory error, at the latest in the first evaluation or with the longest
    batch.

    ## When it is wrong
    Activation checkpointing, offloading and sharding need less than the estimate.

    ## What to try
    Use a smaller batch with gradient accumulation, bfloat16, or activation checkpointing.

    ## Sources
    Rajbhandari et al. (2020), ZeRO, https://arxiv.org/abs/1910.02054.
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
