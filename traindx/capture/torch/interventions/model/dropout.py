"""Dropout set, scaled, removed or added."""

from __future__ import annotations

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change
from traindx.capture.torch.experiment.site import Site


@intervention("dropout", stage="model", values=("0", "0.2", "*0.33"), order=4)
def dropout(value: str) -> Apply:
    """`0.2` sets the rate of every dropout that is active, `0` removes it, `*0.33` scales it: modules, functions, and
    the dropout of attention and of recurrent layers. Where a model calls no dropout at all, a rate above 0 adds it
    behind the hidden activations (see `activation`), in passes of training only.

    The script's random numbers go on as they would have: a removed dropout still draws its mask and does not use
    it, an added one has a generator of its own (exception: a recurrent layer's own dropout set to 0). Dropout that
    the script applies in evaluation, too, is changed there, too. Of a compiled model
    the rates of its modules are set, and a mask that is not needed is not drawn. Where a model without dropout is
    compiled, or cannot be called twice on the same inputs, none can be added: refused."""
    wanted = change(value, "dropout", high=0.99)

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.dropout import Dropout
        from traindx.capture.torch.alter.script import script_of

        Dropout(site, script_of(site), wanted)
        none = (
            "no dropout was active"
            if wanted.relative or not wanted.number
            else "no hidden activation was found inside of what the script calls"
        )
        site.unused = "every dropout had that rate" if wanted.number == wanted.relative else none

    return apply
