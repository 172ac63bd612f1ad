"""New weights before the first step."""

from __future__ import annotations

from traindx.capture.experiment.applies import applies
from traindx.capture.torch.alter.calls import Pass
from traindx.capture.torch.alter.chance import generator
from traindx.capture.torch.alter.script import script_of
from traindx.capture.torch.alter.weights import reinitialize
from traindx.capture.torch.experiment.site import Site


@applies("init")
def init(site: Site, kind: str) -> None:

    script = script_of(site)

    def fresh(this: Pass) -> None:
        if this.number:
            return
        if any(module in script.loaded for module in this.plain.modules()):
            site.refuse("the script has loaded weights into the model")
        touched, left = reinitialize(this.plain, kind, generator("init"))
        for name, number in touched.items():
            site.touched(f"{name} modules", number)
        if left:
            site.fact("init_parameters_left", left)

    script.needs_model(site)
    script.before_pass(site, fresh)
    site.unused = "no module of a known type was called"
