"""Models of Keras changed in place: which layers are hidden ones, and layers put in their places.

Sequential and functional models are graphs of layers, which are drawn anew: what is saved of such a model
holds the new layers. The code of a subclassed model calls its layers itself; there only what a layer is can
be changed."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras.src.models.functional import Functional

from traindx.capture.keras.facts import activation_of, is_weighted, plain_layers

GRAPH = ("_inputs_struct", "_outputs_struct", "_inputs", "_outputs", "_nodes", "_nodes_by_depth", "_operations",
         "_operations_by_depth", "output_names")  # fmt: skip
NORMS = (
    "BatchNormalization",
    "LayerNormalization",
    "GroupNormalization",
    "RMSNormalization",
    "UnitNormalization",
)
RECURRENT = ("LSTM", "GRU", "SimpleRNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "LSTMCell", "GRUCell",
             "SimpleRNNCell")  # fmt: skip


def is_graph(model: Any) -> bool:
    return isinstance(model, keras.Sequential | Functional)


def followers(model: Any) -> dict[int, list[Any]]:
    """By the id of a layer, those that its output goes into: of a graph as it is drawn, else the next in
    order."""
    graph = getattr(model, "_functional", None) or (model if isinstance(model, Functional) else None)
    if graph is None:
        return {id(layer): [after] for layer, after in itertools.pairwise(plain_layers(model))}
    made: dict[int, list[Any]] = {}
    for nodes in graph._nodes_by_depth.values():
        for node in nodes:
            for before in node.input_tensors:
                made.setdefault(id(before._keras_history.operation), []).append(node.operation)
    return made


def hidden_layers(model: Any) -> list[Any]:
    """The layers after which a layer with weights comes, none of them recurrent, and whose output is not
    multiplied with something else (a gate)."""
    after = followers(model)

    def leads(layer: Any, seen: set[int]) -> bool:
        for one in after.get(id(layer), ()):
            if id(one) not in seen:
                seen.add(id(one))
                if (isinstance(one, keras.layers.Layer) and has_weights(one)) or leads(one, seen):
                    return True
        return False

    gated = {
        id(layer) for layer in plain_layers(model) if any(is_gate(one) for one in after.get(id(layer), ()))
    }
    return [
        layer for layer in plain_layers(model)
        if id(layer) not in gated and type(layer).__name__ not in RECURRENT and leads(layer, set())
    ]  # fmt: skip


def has_weights(layer: Any) -> bool:
    """Whether a layer, or one inside of it, multiplies with weights; one that is not built yet, by its
    kind."""
    inside = plain_layers(layer) if getattr(layer, "_layers", None) else [layer]
    return any(is_weighted(one) or (not one.built and hasattr(one, "kernel_initializer")) for one in inside)


def is_gate(operation: Any) -> bool:
    return type(operation).__name__ == "Multiply"


def has_norm(layer: Any, after: Mapping[int, Sequence[Any]]) -> bool:
    return any(type(one).__name__ in NORMS for one in after.get(id(layer), ()))


def linear(layer: Any) -> bool:
    return activation_of(layer) == "linear"


def redraw(model: Any, places: Mapping[int, Sequence[Any]]) -> None:
    """Put layers in the place of others, by their ids; a layer that stays is among its own. The model is a
    graph, at its top, and keeps its identity, weights and what it was compiled with."""
    if isinstance(model, keras.Sequential):
        model._layers = [new for layer in model._layers for new in places.get(id(layer), [layer])]
        model._maybe_rebuild()
    else:
        redraw_graph(model, places)
    fresh_optimizer(model)


def redraw_graph(model: Any, places: Mapping[int, Sequence[Any]]) -> None:
    """Of a functional model: its layers are called anew."""

    def called(operation: Any) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            first, *rest = places.get(id(operation), [operation])
            output = first(*args, **named) if first is operation else first(args[0])
            for layer in rest:
                output = layer(output)
            return output

        return call

    before = model.layers
    outputs = model._run_through_graph(model._inputs_struct, operation_fn=called)
    graph = Functional(model._inputs_struct, outputs)
    vars(model).update({name: vars(graph)[name] for name in GRAPH})
    gone = {id(layer) for layer in before} - {id(layer) for layer in graph.layers}
    for layer in graph.layers:
        if not any(layer is known for known in model._layers):
            model._tracker.track(layer)
    places_of = {id(layer): place for place, layer in enumerate(graph.layers)}
    model._layers.sort(
        key=lambda layer: places_of.get(id(layer), len(places_of))
    )  # as weights are listed and saved
    for layer in [layer for layer in model._layers if id(layer) in gone]:
        model._layers.remove(layer)


def fresh_optimizer(model: Any) -> None:
    """The optimizer knows no variables yet: it is built with the new ones when the training begins."""
    own = model.optimizer
    if own is not None and own.built:
        model.optimizer = type(own).from_config(own.get_config())


def steps_made(model: Any) -> int:
    """By the model's optimizer."""
    own = model.optimizer
    return int(keras.ops.convert_to_numpy(own.iterations)) if own is not None and own.built else 0
