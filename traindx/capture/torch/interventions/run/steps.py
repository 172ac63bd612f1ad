"""A run that ends early."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import whole
from traindx.capture.torch.experiment.site import Site


@intervention("steps", stage="start", values=("500",))
def steps(value: str) -> Apply:
    """Ends the script after that many steps of its first optimizer, as `--steps` does."""
    limit = whole(value, "steps")

    def apply(site: Site) -> None:
        def end() -> None:
            if site.hooks.stream.scene.steps >= limit:
                site.touched("runs")

        site.stop_after(limit)
        site.at_end(end)
        site.unused = "the script ended before"

    return apply
