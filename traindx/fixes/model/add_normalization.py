"""Add normalization layers.

Use batch norm for convolutional nets with batches of at least 32, group norm for small batches, and
layer norm (before each block) for transformers and recurrent nets.

Verify: activations have a similar scale in all layers, and the loss falls from the first steps.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    batch = setup.number("batch_size")
    small = "group or layer normalization (the batch is small)"
    kind = small if batch and batch < 8 else "batch or layer normalization"
    return f"add {kind} after the linear and convolution layers"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="patch",
    causes=(
        "deep-without-skip-or-norm",
        "saturating-activations",
        "bad-initialization",
        "stale-normalization-statistics",
        "exploding-recurrence",
    ),
    expected="activations keep their scale through the layers, and higher learning rates become possible",
    interventions=("normalize=layer",),
)
