"""Samples that are far from all others, left out."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("drop", stage="data", values=("outliers",), order=6)
def drop(value: str) -> Apply:
    """`outliers` leaves out training samples whose inputs or targets hold NaN, infinities, or a value more than 20
    robust deviations from its feature's median. The deviation is (q95 - q5) / 3.29 over the first rows seen, one
    for each table column, image channel or last dimension of a sequence; features that are the same in 9 of 10 rows
    are not judged, nor are whole numbers, nor anything before 20 samples. Evaluation keeps all its samples.

    A loader's batches become smaller by these samples; a batch of which nothing is left is skipped. Where the script
    makes its batches itself they must keep their size: what would be dropped is replaced by other samples of the
    batch, in the inputs of the model and in the loss. Dropped are samples, not the cause: how many is told."""
    one_of(value, "drop", ("outliers",))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.outliers import Drop
        from traindx.capture.torch.alter.script import script_of

        Drop(site, script_of(site))
        site.unused = "no training sample is an outlier"

    return apply
