"""What the loss is fed with."""

from __future__ import annotations

from typing import Any

import keras

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import one_of
from traindx.capture.keras.experiment import Site
from traindx.capture.keras.facts import Loss, activation_of, plain_layers


@intervention("logits", stage="forward", values=("on",), order=1)
def logits(value: str) -> Apply:
    """Where a cross-entropy that was told `from_logits` gets probabilities, the activation of the last layer is taken
    away: the loss gets scores. Metrics and predictions are of scores then, too."""
    one_of(value, "logits", ("on",))

    def apply(site: Site) -> None:
        def undo(model: Any) -> None:
            last = plain_layers(model)[-1]
            if Loss(model).logits and activation_of(last) in ("softmax", "sigmoid"):
                if getattr(last, "activation", None) is None:
                    site.refuse("the last layer is nothing but its activation")
                last.activation = keras.activations.linear
                site.touched("layers")

        site.on_model(undo)
        site.unused = "the loss is fed with what it was told"

    return apply
