"""New weights before the first step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.torch.experiment.site import Site

if TYPE_CHECKING:
    from traindx.capture.torch.alter.calls import Pass


@intervention("init", stage="model", values=("he", "xavier", "orthogonal"), order=1)
def init(value: str) -> Apply:
    """New weights, by module type, when a model is called for the first time.

    Linear and convolution layers get biases of 0 and weights of variance 2 / fan-in (`he`), of variance
    2 / (fan-in + fan-out) (`xavier`), or orthogonal ones with gain sqrt(2) (`orthogonal`). Recurrent layers get
    such input weights with gain 1, orthogonal recurrent ones, biases of 0 and 1 for an LSTM's forget gate.
    Embeddings get variance 1, or 1 / width where a layer shares them. Normalization layers start at 1 and 0 with
    fresh running statistics. Frozen parameters are left as they are, and those that a module of the script's own
    holds directly. The weights follow from the script's seed and draw nothing from its random numbers.

    Refused where weights were loaded into the model: they are the point of it. Sources: He et al. 2015
    (arXiv 1502.01852); Glorot and Bengio 2010; Saxe et al. 2014 (arXiv 1312.6120)."""
    kind = one_of(value, "init", ("he", "xavier", "orthogonal"))

    def apply(site: Site) -> None:
        from traindx.capture.torch.alter.chance import generator
        from traindx.capture.torch.alter.script import script_of
        from traindx.capture.torch.alter.weights import reinitialize

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

    return apply
