"""Weight or resample the classes.

Weights in inverse proportion to the counts (or their root), a balanced sampler, or a focal loss; judge by balanced
accuracy, recall per class or average precision. See that the weights are on the right classes.

Verify: recall per class.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    k = setup.number("classes")
    what = f"the {k:g} classes" if k else "the classes"
    return f"weight {what} by inverse frequency in the loss (or sample them evenly)"


FIX = Fix(
    slug="weight-classes",
    title="Weight or resample the classes",
    applicability="patch",
    causes=("class-imbalance",),
    expected="the minority's recall rises; plain accuracy may fall",
    page=page(__doc__),
    propose=propose,
    interventions=("class_weights=balanced",),
)
