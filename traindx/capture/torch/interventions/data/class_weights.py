"""Weights that balance the classes."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("class_weights", stage="forward", values=("balanced",), order=2)
def class_weights(value: str) -> Apply:
    """In training, weighs each class by n / (classes x samples of the class): in `cross_entropy` and `nll_loss` with
    class numbers, and in both binary cross-entropies (of several columns each by itself). Counted are the labels of the
    data set where it is made of tensors, else those seen in training so far, so that the first steps have other weights
    than later ones. Weights of the script's own are replaced. Classes that are balanced get none, and nothing is
    changed.

    The recorded training loss is the weighted one, not to be compared with that of the plain run; the validation loss
    is as the script computes it. Refused: other losses."""
    one_of(value, "class_weights", ("balanced",))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.classes import BINARY, CLASSES, Balance
        from traindx.capture.torch.alter.script import script_of

        script = script_of(site)
        script.needs_loss(site, CLASSES + BINARY, "a cross-entropy")
        Balance(site, script)
        site.unused = "the classes are balanced"

    return apply
