"""Prepare validation data like training data.

Use one preprocessing function for both, with the statistics of the training data. Augment only in
training. Compare mean, standard deviation, channel order, image size, tokenizer and label map of both
pipelines, and send training samples through the validation pipeline.

Verify: training samples get the same score through both pipelines.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="use the training transforms and statistics for validation (without augmentation)",
    applicability="patch",
    causes=("val-preprocessing-mismatch", "stale-normalization-statistics"),
    expected="the validation loss is close to the training loss from the first evaluation",
)
