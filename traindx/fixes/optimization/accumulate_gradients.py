"""Accumulate gradients over smaller batches.

Split a batch into n micro-batches, divide each loss by n, and take one optimizer step. Batch norm sees
only the micro-batch.

Verify: the curve equals that of the large batch.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    batch = setup.number("batch_size")
    if batch and batch >= 8:
        small = f"4 micro-batches of {batch / 4:g} instead of a batch of {batch:g}"
        return f"{small} (for less noise: 4 batches of {batch:g})"
    return "accumulate over 4 to 8 micro-batches"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    idioms={
        "keras": "gradient_accumulation_steps of the optimizer",
        "jax": "optax.MultiSteps",
    },
    applicability="runtime",
    causes=("out-of-memory", "batch-too-small"),
    expected="the same updates need less memory (or are less noisy with the same memory)",
    touches=("accumulation", "batch_size"),
    interventions=("accumulate=4",),
)
