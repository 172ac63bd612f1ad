"""Steps with gradients that are not finite are left out."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.settings import Optimizer
from traindx.capture.torch.experiment.site import Site


@intervention("skip_nonfinite", stage="gradients", values=("on",))
def skip_nonfinite(value: str) -> Apply:
    """A step whose gradients hold an infinity or a NaN changes neither parameters nor the optimizer's
    state; the script's loop goes on, and its scheduler too. Cannot be done to LBFGS."""
    one_of(value, "skip_nonfinite", ("on",))

    def apply(site: Site) -> None:
        def look(optimizer: Optimizer) -> None:
            grads = [
                p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None
            ]
            values = (g.coalesce().values() if g.is_sparse else g for g in grads)
            if not all(bool(v.isfinite().all()) for v in values):
                site.withhold(optimizer)
                site.touched("steps")

        site.on_gradients(look)
        site.unused = "all gradients were finite"

    return apply
