"""Augment the data.

Changes that keep the answer: crops, flips and color for images (no flips for digits and text), noise and masking
for sound and text, mixup for classes. More real samples beat all of it, and a pretrained model needs fewer.

Augment training data only, and look at augmented samples before using them.

Verify: the gap shrinks, training loss may rise.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    samples = setup.number("dataset_size")
    return (
        f"augment the {samples:g} training samples, or collect more"
        if samples
        else "augment the training data, or collect more"
    )


FIX = Fix(
    slug="augment-data",
    title="Augment the data",
    applicability="advice",
    causes=("too-little-data", "insufficient-regularization"),
    expected="overfitting begins later and validation improves",
    page=page(__doc__),
    propose=propose,
)
