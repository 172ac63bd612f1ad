"""A framework of numpy arrays: the smallest backend that a session can record with. It needs nothing but numpy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from traindx.capture.session.backend import Backend, Updates
from traindx.capture.session.layout import Part
from traindx.vocabulary.setup import Fact

Array = np.ndarray[Any, np.dtype[Any]]
NONE = float("nan")


class Parameter:
    """An array and its gradient (None before the first backward pass)."""

    def __init__(self, value: Array) -> None:
        self.value = value
        self.grad: Array | None = None


class Dense:
    """`x @ weight + bias`, with its own backward pass."""

    def __init__(self, inputs: int, outputs: int, chance: np.random.Generator) -> None:
        self.weight = Parameter(chance.normal(0, (2 / inputs) ** 0.5, (inputs, outputs)))
        self.bias = Parameter(np.zeros(outputs))

    def __call__(self, x: Array) -> Array:
        self.x = x
        return np.asarray(x @ self.weight.value + self.bias.value)

    def backward(self, slope: Array) -> Array:
        self.weight.grad, self.bias.grad = self.x.T @ slope, slope.sum(0)
        return np.asarray(slope @ self.weight.value.T)


class Net:
    """Two layers with a rectifier between them."""

    def __init__(self, chance: np.random.Generator) -> None:
        self.layers = {"first": Dense(6, 32, chance), "second": Dense(32, 1, chance)}

    def __call__(self, x: Array) -> Array:
        self.hidden = np.maximum(self.layers["first"](x), 0)
        return self.layers["second"](self.hidden)

    def backward(self, slope: Array) -> None:
        self.layers["first"].backward(self.layers["second"].backward(slope) * (self.hidden > 0))

    def parameters(self) -> Iterator[tuple[str, str, Parameter]]:
        for owner, layer in self.layers.items():
            yield owner, f"{owner}.weight", layer.weight
            yield owner, f"{owner}.bias", layer.bias


class Descent:
    """Plain gradient descent."""

    def __init__(self, net: Net, rate: float) -> None:
        self.parameters, self.rate = [p for _, _, p in net.parameters()], rate

    def step(self) -> None:
        for parameter in self.parameters:
            if parameter.grad is not None:
                parameter.value -= self.rate * parameter.grad


def by_hand(weights: Sequence[Array], batches: Iterable[tuple[Array, Array]], rate: float) -> Array:
    """`[step, 3]` of a net with these weights (kernel and bias of both layers) under the squared error, in double
    precision: loss, gradient norm of the first and of the second layer."""
    net = Net(np.random.default_rng(0))
    for (_, _, parameter), value in zip(net.parameters(), weights, strict=True):
        parameter.value = value.astype(np.float64)
    optimizer, kept = Descent(net, rate), []
    for x, y in batches:
        error = net(x.astype(np.float64)) - y
        net.backward(2 * error / len(x))
        layers = net.layers.values()
        squares = [sum(float(np.square(p.grad).sum()) for p in (one.weight, one.bias)) for one in layers]
        kept.append([float(np.square(error).mean()), *np.sqrt(squares)])
        optimizer.step()
    return np.array(kept)


class WholeUpdates:
    """Copies of all weights."""

    number_format = ""

    def __init__(self) -> None:
        self.turn = 0
        self.before: list[tuple[Parameter, Array]] = []

    def begin(self, parameters: Sequence[Parameter]) -> Array:
        self.turn += 1
        self.before = [(p, p.value.copy()) for p in parameters]
        return np.array([NONE if p.grad is None else np.mean(p.grad == 0) for p in parameters])

    def end(self, count: int) -> Array:
        changes = [(p.value - old, old) for p, old in self.before]
        rows = [(np.linalg.norm(c), np.linalg.norm(old), np.mean(c == 0)) for c, old in changes]
        return np.array(rows).T.reshape(-1)


class NumpyBackend(Backend):
    """What a session asks of `Net` and `Descent`."""

    name = "numpy"

    def __init__(self) -> None:
        self.known: list[Net] = []

    def parts(self, model: Net, prefix: str) -> Sequence[Part] | None:
        if model in self.known:
            return None
        self.known.append(model)
        return [Part(p, name, owner) for owner, name, p in model.parameters()]

    def architecture(self, model: Net) -> dict[str, Fact]:
        return {"model": type(model).__name__, "depth": len(model.layers)}

    def size(self, parameter: Parameter) -> int:
        return int(parameter.value.size)

    def parameters_of(self, optimizer: Descent) -> list[Parameter]:
        return optimizer.parameters

    def rates(self, optimizer: Descent) -> list[float]:
        return [optimizer.rate] * len(optimizer.parameters)

    def optimizer_facts(self, optimizer: Descent) -> dict[str, Fact]:
        return {"optimizer": "SGD", "lr": optimizer.rate}

    def gradient_squares(self, parameters: Sequence[Parameter], elsewhere: bool) -> list[float]:
        return [0.0 if p.grad is None else float(np.square(p.grad).sum()) for p in parameters]

    def updates(self, elsewhere: bool) -> Updates:
        return WholeUpdates()

    def read(self, kind: str, parameters: Sequence[Parameter], elsewhere: bool) -> Array | None:
        if kind != "weights":
            return None
        norms = [np.linalg.norm(p.value) for p in parameters]
        return np.array([*norms, *(np.abs(p.value).max() for p in parameters)])
