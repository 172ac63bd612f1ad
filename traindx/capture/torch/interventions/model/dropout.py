"""Dropout set, scaled, removed or added."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.interventions.values import Change
from traindx.capture.torch.alter.dropout import Dropout
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.experiment.site import Site


@applies("dropout")
def dropout(site: Site, wanted: Change) -> None:

    Dropout(site, script_of(site), wanted)
    none = (
        "no dropout was active"
        if wanted.relative or not wanted.number
        else "no hidden activation was found inside of what the script calls"
    )
    site.unused = "every dropout had that rate" if wanted.number == wanted.relative else none
