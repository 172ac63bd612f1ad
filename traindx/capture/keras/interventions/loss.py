"""What the loss gets: logits or probabilities."""

from traindx.capture.keras.interventions.api import (
    Any,
    Loss,
    Site,
    activation_of,
    applies,
    keras,
    plain_layers,
)


@applies("logits", unused="the loss gets what its `from_logits` says")
def logits(site: Site, _value: str) -> None:
    """Where a cross-entropy with `from_logits=True` gets probabilities, the activation of the last layer is removed: the
    loss gets scores. Metrics and predictions then use scores, too."""

    def undo(model: Any) -> None:
        last = plain_layers(model)[-1]
        if Loss(model).logits and activation_of(last) in ("softmax", "sigmoid"):
            if getattr(last, "activation", None) is None:
                site.refuse("the last layer is only an activation")
            last.activation = keras.activations.linear
            site.touched("layers")

    site.on_model(undo)
