"""Prepare validation like training.

One function for both, with the statistics of the training data; augmentation only in training. Compare mean,
deviation, channel order, size, tokenizer and label map of both pipelines, and send training samples through the
validation pipeline.

Verify: training samples score alike through both.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "use training's transforms and statistics for validation (without augmentation)"


FIX = Fix(
    slug="match-preprocessing",
    title="Prepare validation like training",
    applicability="patch",
    causes=("val-preprocessing-mismatch", "stale-normalization-statistics"),
    expected="validation is close to training from the first evaluation",
    page=page(__doc__),
    propose=propose,
)
