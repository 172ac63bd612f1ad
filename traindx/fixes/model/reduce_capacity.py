"""Make the model smaller.

Halve the width, remove layers, or fine-tune a small part of a pretrained model. Regularization is
usually the better first step: large regularized models often generalize best.

Verify: the lowest validation loss improves over several seeds.
"""

from traindx.fixes.api import Setup, fix


def propose(setup: Setup) -> str:
    depth = setup.number("max_depth")  # of trees; LightGBM's -1 is no limit
    if depth and depth > 1:
        return f"grow shallower trees: max_depth {depth // 2:g} instead of {depth:g}"
    size, samples = setup.number("parameters"), setup.number("dataset_size")
    if size and samples:
        ratio = f"{size:,.0f} parameters for {samples:,.0f} samples ({size / samples:.3g} to 1)"
        return f"make the model smaller: it has {ratio}"
    return "halve the width of the model"


FIX = fix(
    __name__,
    __doc__,
    propose=propose,
    applicability="advice",
    causes=("too-little-data", "insufficient-regularization"),
    expected="the generalization gap shrinks and training is faster",
    touches=("parameters",),
)
