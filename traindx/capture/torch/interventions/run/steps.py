"""A run that ends early."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.experiment.site import Site


@applies("steps")
def steps(site: Site, limit: int) -> None:
    def end() -> None:
        if site.hooks.stream.scene.steps >= limit:
            site.touched("runs")

    site.stop_after(limit)
    site.at_end(end)
    site.unused = "the script ended earlier"
