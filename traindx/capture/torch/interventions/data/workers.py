"""More or fewer processes that load the data."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import whole
from traindx.capture.torch.experiment.site import Site


@intervention("workers", stage="data", values=("4", "0"), order=2)
def workers(value: str) -> Apply:
    """Worker processes of the loaders that are trained from. What a data set draws at random is drawn in the workers
    then, and differs from that of the plain run. Refused for streams, which every worker would repeat, and where the
    script makes its batches itself."""
    number = whole(value, "workers", low=0)

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.loaders import is_stream, put
        from traindx.capture.torch.alter.script import script_of

        def employ(loader: Any) -> None:
            if loader.num_workers == number:
                return
            if is_stream(loader):
                site.refuse("the loader's data set is a stream, which every worker would repeat")
            loader.num_workers = number
            loader.prefetch_factor = (loader.prefetch_factor or 2) if number else None
            if not number:
                loader.timeout = 0
                put(loader, persistent_workers=False)
            site.touched("loaders")

        script = script_of(site)
        script.needs_loader(site)
        script.on_loader(site, employ)
        site.unused = f"the loaders had {number} workers already"

    return apply
