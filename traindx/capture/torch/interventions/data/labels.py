"""Labels that belong to other samples."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("labels", stage="data", values=("permute",), order=5)
def labels(value: str) -> Apply:
    """`permute` gives the training samples each other's labels: what is still learned does not come from the inputs.
    Validation keeps its own labels.

    Where the training loader has a data set with a length, one fixed permutation over all its samples, the same in
    every epoch (the label is the last part of a sample, or its key `label`, `target`, `y` or their plural). Else the
    targets of the loss are permuted within each batch; equal targets always in the same way, so that a full batch
    keeps its permutation. Which of both is the fact `labels_permuted`."""
    one_of(value, "labels", ("permute",))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.labels import Permute
        from traindx.capture.torch.alter.script import script_of

        Permute(site, script_of(site))
        site.unused = "no loss function of PyTorch was called with targets of several samples"

    return apply
