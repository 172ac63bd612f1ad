"""Add normalization layers.

Batch norm for convolutional nets with batches of 32 and more, group norm for small batches, layer norm (before each
block) for transformers and recurrent nets.

Verify: activations' scale is even over the layers and the loss falls from the first steps.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    batch = setup.number("batch_size")
    kind = (
        "group or layer normalization (the batch is small)"
        if batch and batch < 8
        else "batch or layer normalization"
    )
    return f"add {kind} after the linear and convolution layers"


FIX = Fix(
    slug="add-normalization",
    title="Add normalization layers",
    applicability="patch",
    causes=(
        "deep-without-skip-or-norm",
        "saturating-activations",
        "bad-initialization",
        "stale-normalization-statistics",
        "exploding-recurrence",
    ),
    expected="signals keep their scale through depth; higher rates become possible",
    page=page(__doc__),
    propose=propose,
    interventions=("normalize=layer",),
)
