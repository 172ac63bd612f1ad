"""Other inputs of the model."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site


@intervention("inputs", stage="data", values=("standardize", "blank", "shuffle"), order=7)
def inputs(value: str) -> Apply:
    """Changes what a model is called with, whether it came from a DataLoader or not: its first tensor and all other
    floating ones with as many samples, but not labels, masks, lengths and states (by the names of the arguments).
    What one model hands to the next is left alone.

    `standardize` brings each feature (column of a table, channel of images, last dimension of sequences) to mean 0 and
    standard deviation 1 over all that was seen in training so far; evaluation gets the same and adds nothing.
    Constant features become 0. The first steps have little to go by. Refused for token ids.
    `blank` makes them all 0, in evaluation, too: what is still learned does not come from the inputs.
    `shuffle` gives the samples of a training batch (along the first dimension) each other's inputs; evaluation keeps
    its own. Refused where the script calls no module."""
    kind = one_of(value, "inputs", ("standardize", "blank", "shuffle"))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.inputs import Inputs
        from traindx.capture.torch.alter.script import script_of

        script = script_of(site)
        script.needs_model(site)
        Inputs(site, script, kind)
        site.unused = "no model was called with a tensor of several samples"

    return apply
