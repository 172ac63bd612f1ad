"""Make the model smaller.

Half the width, fewer layers, or a pretrained model of which only a small part is trained. Regularization is usually
the better first step, since large nets with it often generalize best.

Verify: lowest validation loss over several seeds.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    size, samples = setup.number("parameters"), setup.number("dataset_size")
    if size and samples:
        return f"make the model smaller: {size:g} parameters for {samples:g} samples are {size / samples:.3g} to one"
    return "halve the width of the model"


FIX = Fix(
    slug="reduce-capacity",
    title="Make the model smaller",
    applicability="advice",
    causes=("too-little-data", "insufficient-regularization"),
    expected="a smaller gap and faster training",
    page=page(__doc__),
    propose=propose,
    touches=("parameters",),
)
