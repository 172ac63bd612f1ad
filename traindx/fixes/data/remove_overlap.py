"""Remove the overlap of training and validation.

Split by what makes samples alike (person, document, scene, time), remove duplicates before splitting, fit scalers
and selections on training data only, and look for features that are made from the answer.

Verify: no hash in common; results on fresh data agree with validation.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "split by group before anything else, and remove samples that both sets share"


FIX = Fix(
    slug="remove-overlap",
    title="Remove the overlap of training and validation",
    applicability="patch",
    causes=("train-val-leakage",),
    expected="validation gets worse, and true",
    page=page(__doc__),
    propose=propose,
)
