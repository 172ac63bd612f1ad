"""Weight or resample the classes.

Weight each class by the inverse of its frequency (or the square root of that), sample classes evenly, or
use a focal loss. Judge by balanced accuracy, recall per class or average precision. Check that each
weight belongs to the right class.

Verify: recall per class.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose=(
        "weight the {classes:g} classes by inverse frequency in the loss (or sample them evenly)",
        "weight the classes by inverse frequency in the loss (or sample them evenly)",
    ),
    idioms={
        "keras": "class_weight in fit",
    },
    applicability="patch",
    causes=("class-imbalance",),
    expected="recall of the rare classes rises; plain accuracy may fall",
    interventions=("class_weights=balanced",),
)
