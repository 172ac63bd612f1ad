"""Smoothed labels."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import number
from traindx.capture.torch.experiment.site import Site


@intervention("label_smoothing", stage="forward", values=("0.1", "0"), order=3)
def label_smoothing(value: str) -> Apply:
    """In training, moves a share of each label's weight to all classes alike: in `cross_entropy`, in `nll_loss` and in
    both binary cross-entropies. It replaces the `label_smoothing` that the script gives to `cross_entropy`. The
    recorded training loss is the smoothed one, which is higher and not to be compared with that of the plain run; the
    validation loss is as the script computes it. Refused: other losses, and `nll_loss` with class weights."""
    share = number(value, "label_smoothing", high=0.99)

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.classes import BINARY, CLASSES, smoothed
        from traindx.capture.torch.alter.script import script_of

        script = script_of(site)
        script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
        script.on_loss(site, 7, lambda call: smoothed(site, call, share))
        site.unused = f"the labels were smoothed by {share:g} already"

    return apply
