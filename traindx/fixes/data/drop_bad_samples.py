"""Drop or repair bad samples.

Scan the data once for non-finite values, extreme values (more than 20 robust standard deviations from
the median), empty or fully masked targets, and files that do not decode. Log the sample ids of each
batch, so that a spike can be traced to its samples.

Verify: the run passes the step of the former spike without a new one.
"""

from traindx.fixes.api import fix

FIX = fix(
    __name__,
    __doc__,
    propose="scan the data for non-finite, extreme, empty and fully masked samples, and drop or repair them",
    applicability="patch",
    causes=("corrupt-samples", "fully-masked-labels", "unnormalized-inputs", "label-noise"),
    expected="the spikes at those batches are gone",
    interventions=("drop=outliers",),
)
