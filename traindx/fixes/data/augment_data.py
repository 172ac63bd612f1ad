"""Augment the data.

Use changes that keep the label: crops, flips and color jitter for images (no flips for digits and text),
noise and masking for audio and text, mixup for classification. More real samples help more than any
augmentation, and a pretrained model needs fewer samples.

Augment only the training data, and inspect augmented samples before using them.

Verify: the generalization gap shrinks; the training loss may rise.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "augment the {dataset_size:,.0f} training samples, or collect more",
        "augment the training data, or collect more",
    ),
    applicability="advice",
    causes=("too-little-data", "insufficient-regularization"),
    expected="overfitting starts later and the validation loss gets lower",
)
