"""What the layers of a model are: activations, dropout, normalization."""

from collections.abc import Mapping, Sequence

from traindx.capture.keras.alter import (
    followers as after_each,
    has_norm,
    has_weights,
    hidden_layers,
    is_graph,
    linear,
    redraw,
    steps_made,
)
from traindx.capture.keras.interventions.api import (
    Any,
    Change,
    Site,
    activation_of,
    applies,
    keras,
    plain_layers,
)

SATURATING = ("sigmoid", "tanh", "hard_sigmoid", "hard_tanh", "softsign")
SEED = 0x7261  # of masks that are added: the script's generator draws none of them


def drawn(site: Site, model: Any, places: Mapping[int, Sequence[Any]]) -> None:
    """Layers are put into a model, or the experiment is refused."""
    if not places:
        return
    if not is_graph(model):
        site.refuse(f"the layers of {type(model).__name__} are called by the script's own code")
    top = {id(layer) for layer in model.layers}
    if not set(places) <= top:
        site.refuse("a layer inside of a nested model was to be changed")
    if steps_made(model):
        site.refuse("the model's optimizer has already made steps")
    redraw(model, places)
    site.touched("layers", len(places))


@applies("activation", unused="no hidden activation was one to replace")
def activation(site: Site, into: str) -> None:
    """The activation of hidden layers (layers that a layer with weights follows), as an argument or as a separate layer:
    sigmoid, tanh and similar ones become the one given, and ReLU becomes GELU or leaky ReLU. Recurrent layers and
    outputs that are multiplied with another (gates) stay as they are. So do weights: combine it with `init=he`."""

    def change_them(model: Any) -> None:
        places: dict[int, Sequence[Any]] = {}
        for layer in hidden_layers(model):
            own = activation_of(layer)
            if not (own in SATURATING or (own == "relu" and into != "relu")):
                continue
            if getattr(layer, "activation", None) is None:  # a ReLU layer is nothing else
                places[id(layer)] = [keras.layers.Activation(into)]
            else:
                layer.activation = keras.activations.get(into)
                site.touched("layers")
        drawn(site, model, places)

    site.on_model(change_them)


def norm_for(layer: Any, kind: str) -> Any:
    """A new normalization layer of that kind, to follow a layer."""
    if kind == "batch":
        return keras.layers.BatchNormalization()
    many = "Conv" in type(layer).__name__
    return keras.layers.GroupNormalization(groups=1) if many else keras.layers.LayerNormalization()


@applies("normalize", unused="no layer's output goes straight into a hidden activation")
def normalize(site: Site, kind: str) -> None:
    """Normalization between a hidden layer with weights and its activation (an argument, or the next layer): layer or
    batch normalization after dense layers; of all channels together, or of each over the batch, after convolutions.
    Layers that a norm already follows get none. Sequential and functional models are rebuilt and saved with it. Other
    models, and layers inside of nested models, are refused."""

    def insert(model: Any) -> None:
        after, places = after_each(model), {}
        for layer in hidden_layers(model):
            name = type(layer).__name__
            if not has_weights(layer) or has_norm(layer, after) or not (name == "Dense" or "Conv" in name):
                continue
            follow = [
                activation_of(one) for one in after.get(id(layer), ()) if isinstance(one, keras.layers.Layer)
            ]
            if linear(layer) and (not follow or follow[0] == "linear"):
                continue  # no activation behind it
            behind = [] if linear(layer) else [keras.layers.Activation(layer.activation)]
            places[id(layer)] = [layer, norm_for(layer, kind), *behind]
        for layer in hidden_layers(model):
            if is_graph(model) and len(places.get(id(layer), ())) == 3:
                layer.activation = keras.activations.linear
        drawn(site, model, places)

    site.on_model(insert)


@applies("dropout")
def dropout(site: Site, wanted: Change) -> None:
    """`0.2` sets the rate of every dropout layer, `0` removes it, `*0.33` scales it. Where a model has none, a rate
    above 0 adds one after each hidden activation of Sequential and functional models, with a separate seed. The
    `dropout` of recurrent layers and of attention is set in the same way."""

    def set_it(model: Any) -> None:
        found = [(layer, name) for layer in plain_layers(model) for name in rates(layer)]
        for layer, name in found:
            own = getattr(layer, name)
            new = wanted.apply_to(own)
            if new != own:
                setattr(layer, name, new)
                site.touched("layers")
        if not found and not wanted.relative and wanted.number:
            here = [layer for layer in hidden_layers(model) if not linear(layer)]
            drawn(site, model, {
                id(layer): [layer, keras.layers.Dropout(wanted.number, seed=SEED + i)]
                for i, layer in enumerate(here)
            })  # fmt: skip

    site.on_model(set_it)
    none = wanted.relative or not wanted.number
    site.unused = (
        "no dropout was active" if none else "no hidden activation was found, or every rate was that"
    )


def rates(layer: Any) -> list[str]:
    """The attributes of a layer that are rates of dropout, and active."""
    names = ("rate",) if "Dropout" in type(layer).__name__ else ("dropout", "recurrent_dropout", "_dropout")
    found = [(name, getattr(layer, name, None)) for name in names]
    return [name for name, own in found if isinstance(own, float | int) and own > 0]
