"""What the layers of a model are: activations, dropout, normalization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import keras

from traindx.capture.experiment.kinds import Apply, intervention
from traindx.capture.experiment.values import change, one_of
from traindx.capture.keras.alter import followers as after_each
from traindx.capture.keras.alter import has_norm, has_weights, hidden, is_graph, linear, redraw, steps_made
from traindx.capture.keras.experiment import Site
from traindx.capture.keras.facts import activation_of, plain_layers

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
        site.refuse("the model's optimizer has made steps already")
    redraw(model, places)
    site.touched("layers", len(places))


@intervention("activation", stage="model", values=("relu", "gelu", "leaky_relu"), order=2)
def activation(value: str) -> Apply:
    """The activation of hidden layers (after which a layer with weights comes), given to them or layers of their own:
    sigmoid, tanh and their kin become the one given, ReLU becomes GELU or leaky ReLU. Not in recurrent layers, not
    where the output is multiplied with another (gates). Weights stay as they are: `init=he` goes with it."""
    into = one_of(value, "activation", ("relu", "gelu", "leaky_relu"))

    def apply(site: Site) -> None:
        def change_them(model: Any) -> None:
            places: dict[int, Sequence[Any]] = {}
            for layer in hidden(model):
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
        site.unused = "no hidden activation was one to replace"

    return apply


@intervention("normalize", stage="model", values=("layer", "batch"), order=3)
def normalize(value: str) -> Apply:
    """Normalization between a hidden layer with weights and its activation (its own, or the layer behind it): layer or
    batch normalization behind dense layers; of all channels together, or of each over the batch, behind convolutions.
    Not where a norm follows already. Sequential and functional models are drawn anew, and saved with it; others, and
    layers inside of nested models, are refused."""
    kind = one_of(value, "normalize", ("layer", "batch"))

    def norm(layer: Any) -> Any:
        if kind == "batch":
            return keras.layers.BatchNormalization()
        many = "Conv" in type(layer).__name__
        return keras.layers.GroupNormalization(groups=1) if many else keras.layers.LayerNormalization()

    def apply(site: Site) -> None:
        def insert(model: Any) -> None:
            after, places = after_each(model), {}
            for layer in hidden(model):
                name = type(layer).__name__
                if (
                    not has_weights(layer)
                    or has_norm(layer, after)
                    or not (name == "Dense" or "Conv" in name)
                ):
                    continue
                follow = [
                    activation_of(one)
                    for one in after.get(id(layer), ())
                    if isinstance(one, keras.layers.Layer)
                ]
                if linear(layer) and (not follow or follow[0] == "linear"):
                    continue  # no activation behind it
                behind = [] if linear(layer) else [keras.layers.Activation(layer.activation)]
                places[id(layer)] = [layer, norm(layer), *behind]
            for layer in hidden(model):
                if is_graph(model) and len(places.get(id(layer), ())) == 3:
                    layer.activation = keras.activations.linear
            drawn(site, model, places)

        site.on_model(insert)
        site.unused = "no layer's output goes straight into a hidden activation"

    return apply


@intervention("dropout", stage="model", values=("0", "0.2", "*0.33"), order=4)
def dropout(value: str) -> Apply:
    """`0.2` sets the rate of every dropout layer, `0` removes it, `*0.33` scales it. Where a model has none, a rate
    above 0 adds one behind each hidden activation of Sequential and functional models, with a seed of its own. The
    `dropout` of recurrent layers and of attention is set alike."""
    wanted = change(value, "dropout", high=0.99)

    def apply(site: Site) -> None:
        def set_it(model: Any) -> None:
            found = [(layer, name) for layer in plain_layers(model) for name in rates(layer)]
            for layer, name in found:
                own = getattr(layer, name)
                new = own * wanted.number if wanted.relative else wanted.number
                if new != own:
                    setattr(layer, name, new)
                    site.touched("layers")
            if not found and not wanted.relative and wanted.number:
                here = [layer for layer in hidden(model) if not linear(layer)]
                drawn(site, model, {
                    id(layer): [layer, keras.layers.Dropout(wanted.number, seed=SEED + i)]
                    for i, layer in enumerate(here)
                })  # fmt: skip

        site.on_model(set_it)
        none = wanted.relative or not wanted.number
        site.unused = (
            "no dropout was active" if none else "no hidden activation was found, or every rate was that"
        )

    return apply


def rates(layer: Any) -> list[str]:
    """The attributes of a layer that are rates of dropout, and active."""
    names = ("rate",) if "Dropout" in type(layer).__name__ else ("dropout", "recurrent_dropout", "_dropout")
    found = [(name, getattr(layer, name, None)) for name in names]
    return [name for name, own in found if isinstance(own, float | int) and own > 0]
