"""Normalize the inputs.

Mean 0 and deviation 1 per feature (per channel for images), computed on training data and applied everywhere.
Logarithms for features over many orders of magnitude, clipping for outliers. Once, not twice.

Verify: |mean| under 0.1 and deviation about 1 at the model's input.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "standardize each input feature with the mean and deviation of the training data"


FIX = Fix(
    slug="normalize-inputs",
    title="Normalize the inputs",
    applicability="runtime",
    causes=("unnormalized-inputs", "saturating-activations", "bad-initialization"),
    expected="the first loss comes down to its theory, usual learning rates work",
    page=page(__doc__),
    propose=propose,
    interventions=("inputs=standardize",),
)
