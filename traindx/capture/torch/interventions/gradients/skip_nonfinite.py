"""Steps whose gradients are not finite are skipped."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.settings import Optimizer, with_gradients
from traindx.capture.torch.experiment.site import Site


@applies("skip_nonfinite")
def skip_nonfinite(site: Site, _value: str) -> None:
    def check(optimizer: Optimizer) -> None:
        grads = [p.grad for p in with_gradients(optimizer)]
        values = (g.coalesce().values() if g.is_sparse else g for g in grads)
        if not all(bool(v.isfinite().all()) for v in values):
            site.withhold(optimizer)
            site.touched("steps")

    site.on_gradients(check)
    site.unused = "all gradients were finite"
