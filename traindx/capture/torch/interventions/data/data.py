"""The order of the data, or one batch of it."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("data", stage="data", values=("shuffle", "fixed", "repeat-batch"), order=4)
def data(value: str) -> Apply:
    """`shuffle` lets a loader that goes through its data in their own order draw a new random one in each epoch, from a
    generator of our own. `fixed` repeats the order of the first epoch in all others; the script's random numbers go on
    as they would have. Both are refused where the script makes its batches itself, for streams, and where batches are
    made by a sampler of the script's own.

    `repeat-batch` trains on the first training batch only: a loader draws on, but hands out a copy of its first batch,
    as many times as it has batches. Where the script makes its batches itself, each model is called with the tensors
    of its first training pass, and the losses that follow get the targets of that time (as many samples as the script
    has at hand). Evaluation is as before."""
    kind = one_of(value, "data", ("shuffle", "fixed", "repeat-batch"))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.order import fix, shuffle
        from traindx.capture.torch.alter.repeat import RepeatBatch
        from traindx.capture.torch.alter.script import script_of

        script = script_of(site)
        if kind == "repeat-batch":
            RepeatBatch(site, script)
            site.unused = "there was no second batch"
            return
        change = shuffle if kind == "shuffle" else fix
        script.needs_loader(site)
        script.on_loader(site, lambda loader: change(site, loader))
        site.unused = "the data is shuffled" if kind == "shuffle" else "no second epoch had another order"

    return apply
