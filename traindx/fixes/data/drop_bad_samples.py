"""Drop or repair bad samples.

Scan the data once: non-finite values, extreme values (over 20 robust deviations), empty or fully masked targets,
files that do not decode. Log the ids of each batch, so that a spike leads to its samples.

Verify: the run passes the step of the spike without one.
"""

from traindx.fixes.api import Fix, Setup, page


def propose(setup: Setup) -> str:
    return "scan the data for non-finite, extreme, empty and fully masked samples, and drop or repair them"


FIX = Fix(
    slug="drop-bad-samples",
    title="Drop or repair bad samples",
    applicability="patch",
    causes=("corrupt-samples", "fully-masked-labels", "unnormalized-inputs", "label-noise"),
    expected="spikes at those batches are gone",
    page=page(__doc__),
    propose=propose,
    interventions=("drop=outliers",),
)
