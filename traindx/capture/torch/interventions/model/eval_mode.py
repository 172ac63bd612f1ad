"""Evaluation mode for evaluation."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site
from traindx.capture.torch.interventions.model.mode import switching


@intervention("eval_mode", stage="forward", values=("eval",), order=1)
def eval_mode(value: str) -> Apply:
    """Models that are called with gradients off (`no_grad`, `inference_mode`) are in evaluation mode for that
    call. What the script itself sees of their mode stays. This is also done to what a script computes
    without gradients while it trains: targets of a teacher, samples of a generator."""
    one_of(value, "eval_mode", ("eval",))

    def apply(site: Site) -> None:
        import torch

        site.unused = "all models were in evaluation mode when they were called with gradients off"
        site.around_calls(switching(site, lambda: not torch.is_grad_enabled(), False))

    return apply
