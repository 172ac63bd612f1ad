"""Standardized targets of a regression."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("targets", stage="data", values=("standardize",), order=8)
def targets(value: str) -> Apply:
    """`standardize` trains a regression (`mse_loss`, `l1_loss`, `smooth_l1_loss`, `huber_loss`) on targets with mean 0
    and standard deviation 1 over all those seen in training so far, column by column.

    Gradients are those of the loss in standard units. Everything that can be seen stays in the script's units: the
    model's output is multiplied back before the script gets it, in evaluation, too, and the value of the training
    loss is that of the plain targets, so that it can be compared with the plain run. Thresholds inside of
    `huber_loss` and `smooth_l1_loss` count standard units in training.

    Refused: a loss that is computed by hand, or fed with something else than the output of one model."""
    one_of(value, "targets", ("standardize",))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.script import script_of
        from traindx.capture.torch.alter.targets import REGRESSION, Standardize

        script = script_of(site)
        script.needs_model(site)
        script.needs_loss(site, REGRESSION, "a regression loss")
        Standardize(site, script)

    return apply
