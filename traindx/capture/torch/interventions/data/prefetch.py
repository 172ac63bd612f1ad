"""Batches that workers hold ready."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import whole
from traindx.capture.torch.experiment.site import Site


@intervention("prefetch", stage="data", values=("4",), order=3)
def prefetch(value: str) -> Apply:
    """Batches that each worker of a training loader prepares ahead (PyTorch: 2). The batches are the same. Refused for
    a loader without workers (give `workers=` with it), and where the script makes its batches itself."""
    number = whole(value, "prefetch")

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.script import script_of

        def ahead(loader: Any) -> None:
            if not loader.num_workers:
                site.refuse("the loader has no workers that could prepare batches; give workers=, too")
            if loader.prefetch_factor != number:
                loader.prefetch_factor = number
                site.touched("loaders")

        script = script_of(site)
        script.needs_loader(site)
        script.on_loader(site, ahead)
        site.unused = f"the workers prepared {number} batches already"

    return apply
