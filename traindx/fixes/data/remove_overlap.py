"""Remove the overlap of training and validation.

Split by group (person, document, scene, time), remove duplicates before splitting, fit scalers and
feature selection on training data only, and look for features that are derived from the target.

Verify: the sets share no hash, and results on new data agree with validation.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="split by group before anything else, and remove samples that both sets share",
    applicability="patch",
    causes=("train-val-leakage",),
    expected="the validation score gets worse and agrees with results on new data",
)
