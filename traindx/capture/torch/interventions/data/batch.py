"""Another batch size."""

from __future__ import annotations

from typing import Any

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, whole
from traindx.capture.torch.experiment.site import Site


@intervention("batch", stage="data", values=("32", "*4", "*0.25"), order=1)
def batch(value: str) -> Apply:
    """Another batch size of the loaders that are trained from: `32`, or `*4` times their own, at most the data set's.
    The learning rate stays (`lr=*4` goes with it, where it is to follow). The length of the loader is the new one
    from its first iterator on; before that for a shuffled loader, or the first that the script makes: a schedule that
    was planned with the number of steps is right then. One with a number of steps of its own may end, or raise, early.

    Refused where the script makes its batches itself, for streams, and where batches are made by a sampler of the
    script's own: `accumulate=4` makes a step of more samples there."""
    if value.startswith("*"):
        wanted = change(value, "batch", strict=True)
    else:
        wanted = change(str(whole(value, "batch")), "batch")

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.loaders import put, why_not_rebuilt
        from traindx.capture.torch.alter.script import script_of

        def resize(loader: Any) -> None:
            why = why_not_rebuilt(loader)
            if why:
                site.refuse(f"the loader's batch size cannot be changed ({why}); try accumulate=")
            own = loader.batch_size
            size = round(own * wanted.number if wanted.relative else wanted.number)
            size = max(1, min(size, len(loader.dataset)) if size > own else size)
            if size != own:
                loader.batch_sampler.batch_size = size
                put(loader, batch_size=size)
                site.touched("loaders")

        script = script_of(site)
        script.needs_loader(site)
        script.on_loader(site, resize, size=True)
        site.unused = "the batches had that size, or are the whole data set"

    return apply
