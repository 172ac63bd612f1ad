"""Normalize the inputs.

Give each feature (each channel of an image) mean 0 and standard deviation 1, with statistics of the
training data, in training, validation and deployment. Take logarithms of features that span many orders
of magnitude, and clip outliers. Normalize once, not twice.

Verify: at the model's input |mean| is below 0.1 and the standard deviation is about 1.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="standardize each input feature with the mean and standard deviation of the training data",
    idioms={
        "keras": "a Normalization layer, adapted to the training data",
    },
    applicability="runtime",
    causes=("unnormalized-inputs", "saturating-activations", "bad-initialization"),
    expected="the first loss is near its theoretical value, and usual learning rates work",
    interventions=("inputs=standardize",),
)
