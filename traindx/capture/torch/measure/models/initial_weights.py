"""A model as it was built: units that start equal, the size of initial weights, layers that are not
registered.

Units with equal incoming and outgoing weights compute the same and get the same gradient, so they stay equal
for ever (Goodfellow et al. 2016, Deep learning, section 8.4, https://www.deeplearningbook.org). Weights that
start at zero on purpose (a last layer, a residual branch) are equal at first, too, but do not stay so. Hence
both are measured.

A matrix with n inputs preserves the variance of a signal where its entries have the root mean square 1 /
sqrt(n). Their root mean square times sqrt(n) is the gain. He initialization has a gain of 1.4 (He et al.
2015, arXiv:1502.01852), Xavier's 1 (Glorot and Bengio 2010), PyTorch's default 0.6, a small transformer
0.15.

Random draws spread a weight evenly over its rows: their mean squares differ as those of independent values do.
Training makes some rows much larger than others. So it shows whether weights were ever trained.

Layers that are not registered are parameters in plain lists, tuples and dicts of its modules."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from traindx.capture.arrays.windows import gain_facts
from traindx.capture.process.patches import LiveIds
from traindx.capture.torch.measure.models.tree import WEIGHTED, unwrap_model
from traindx.capture.torch.measure.tensors.views import local_part
from traindx.vocabulary import Fact

MOST_MATRICES, MOST_UNITS, MOST_VALUES = 64, 256, 64  # that are read
NAMED = 10  # parameters that a fact names


class EqualUnits:
    """Compares units before the first step, and again later if some were equal."""

    def __init__(self) -> None:
        self._equal: dict[int, tuple[float, int]] = {}  # place of a matrix -> share of equal units, units
        self._later: dict[int, float] = {}
        self.inspected = False
        self.due = True  # nothing was inspected yet, or some units were equal

    def inspect(self, parameters: Mapping[int, torch.Tensor], names: Sequence[str]) -> None:
        """`parameters` of all models by their place in `names`. Only weights have units: positions and
        queries, for example, have other names."""
        if not self.inspected:
            self.inspected = True
            matrices = [i for i, p in parameters.items() if p.dim() > 1 and len(p) > 1 and p.requires_grad]
            matrices = [i for i in matrices if "weight" in names[i] or names[i].rpartition(".")[2].isdigit()]
            for place in matrices[:MOST_MATRICES]:
                self._equal[place] = (equal_units(parameters[place]), len(parameters[place]))
            self.due = any(share for share, _ in self._equal.values())
            return
        for place, (share, _) in self._equal.items():
            if share and place in parameters:
                self._later[place] = equal_units(parameters[place])

    def facts(self, names: Sequence[str]) -> dict[str, Fact]:
        """Shares over the units of all matrices but the last one, whose units differ by their targets.
        `names` are those of the parameters."""
        inner = list(self._equal)[:-1]
        if not inner:
            return {}
        total = sum(self._equal[i][1] for i in inner)
        out: dict[str, Fact] = {"weights_identical_units": self._over(inner, total, False)}
        found = [i for i in inner if self._equal[i][0]]
        if found:
            out["weights_identical_units_names"] = ", ".join(names[i] for i in found[:NAMED])
        if self._later:
            out["weights_identical_units_later"] = self._over(inner, total, True)
        return out

    def _over(self, places: Sequence[int], total: int, later: bool) -> float:
        shares = [self._later.get(i, 0.0) if later else self._equal[i][0] for i in places]
        return sum(s * self._equal[i][1] for s, i in zip(shares, places, strict=True)) / total


def equal_units(weight: torch.Tensor) -> float:
    """Share of units (rows; at most MOST_UNITS, by MOST_VALUES evenly spaced values of each) whose
    weights equal another unit's."""
    rows = local_part(weight)[:MOST_UNITS].reshape(min(len(local_part(weight)), MOST_UNITS), -1)
    if len(rows) < 2:
        return 0.0
    stride = max(1, rows.shape[1] // MOST_VALUES)
    values = rows[:, ::stride][:, :MOST_VALUES].float().cpu().numpy()
    _, place, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return float((counts[place.reshape(-1)] > 1).mean())


MOST_GAINS, READ = 256, 1 << 16  # that are read; values of each


def initial_gains(models: Sequence[nn.Module]) -> dict[str, Fact]:
    """Facts of the smallest and the largest gain of the layers, and which they are. Weights that are zero
    are so on purpose, and transposed convolutions have their inputs in another dimension: both are left
    out."""
    found: list[tuple[float, str]] = []
    for model in models:
        for name, module in unwrap_model(model).named_modules():
            if isinstance(module, WEIGHTED) and not isinstance(module, nn.modules.conv._ConvTransposeNd):
                for key, weight in module._parameters.items():
                    is_matrix = weight is not None and "weight" in key and weight.dim() > 1
                    if is_matrix and len(found) < MOST_GAINS:
                        found.append((gain(weight), f"{name}.{key}"))
    return gain_facts([(value, name) for value, name in found if 0 < value < math.inf])


def gain(weight: torch.Tensor) -> float:
    """Root mean square of a weight [units, inputs, ...] times the square root of the inputs of one unit."""
    values = local_part(weight)
    inputs = values[0].numel() if len(values) else 0
    flat = values.reshape(-1)[:READ].float()
    return float(flat.square().mean().sqrt()) * math.sqrt(inputs) if flat.numel() and inputs else 0.0


ROWS, COLUMNS = 256, 256  # of a matrix that are read
FEW = 8  # rows and columns; of fewer, the spread is not known
CONSTANT = 0.1  # kurtosis beyond 1, below which all values have one size
NORMAL = 3.0  # the kurtosis of normal values; that of uniform ones is 1.8
# x the spread of independent values; measured: 1.7 at most as built, 4 and more after five epochs.
UNEVEN = 2.5


TRAINED = LiveIds()  # of parameters that were about to be trained in some session of this process


class FirstWeights:
    """Which weights are random draws when the training starts, and which of the frozen ones remain so. What an
    earlier session of the script trained is none, however even it still is."""

    def __init__(self) -> None:
        self._values = {True: 0, False: 0}  # of weights that are random draws, and of others
        self._frozen: dict[int, tuple[int, float]] = {}  # place -> values, and the mean square where drawn

    def inspect(self, parameters: Mapping[int, torch.Tensor]) -> None:
        """`parameters` of all models by their place."""
        for place, parameter in parameters.items():
            squares = corner_squares(parameter)
            if min(squares.shape) < FEW:
                continue
            uneven = unevenness(squares)
            drawn = uneven is not None and uneven < UNEVEN and id(parameter) not in TRAINED
            self._values[drawn] += parameter.numel() if uneven is not None else 0
            if parameter.requires_grad:
                TRAINED.remember(parameter)
            else:
                self._frozen[place] = parameter.numel(), float(squares.mean()) if drawn else math.nan

    def facts(self, parameters: Mapping[int, torch.Tensor]) -> dict[str, Fact]:
        """A frozen weight that changed is an average, or a copy of another one, not one left out."""
        out: dict[str, Fact] = {}
        if any(self._values.values()):
            out["initial_weights_drawn"] = self._values[True] / sum(self._values.values())
        here = [(parameters[place], *found) for place, found in self._frozen.items() if place in parameters]
        if here:
            same = (count for p, count, first in here if float(corner_squares(p).mean()) == first)
            out["frozen_weights_drawn"] = sum(same) / sum(count for _, count, _ in here)
        return out


def corner_squares(weight: torch.Tensor) -> torch.Tensor:
    """Squares of some values of a matrix, in its rows; no value of anything else."""
    if weight.dim() < 2 or not weight.is_floating_point():
        return torch.empty(0, 0)
    rows = local_part(weight.detach())[:ROWS]
    return rows.reshape(len(rows), -1)[:, :COLUMNS].float().square()


def unevenness(squares: torch.Tensor) -> float | None:
    """The variance of the means of rows, or of columns, relative to that of independent values with this kurtosis
    (at most a normal one's); None for constants."""
    squares = squares[squares.sum(1) > 0]  # padding is zero
    if len(squares) < FEW:
        return None
    beyond: float = min(float(squares.square().mean() / squares.mean().square()), NORMAL) - 1
    if not beyond > CONSTANT:
        return None
    both = ((squares.mean(1), squares.shape[1]), (squares.mean(0), squares.shape[0]))
    spreads: list[float] = [float(means.var() / means.mean().square()) * count for means, count in both]
    return max(spreads) / beyond


DEPTH = 3  # of nested containers


def unregistered_layers(
    model: nn.Module, known: Collection[int], used: Callable[[torch.Tensor], bool]
) -> Iterator[tuple[str, torch.Tensor]]:
    """Name and value of parameters in plain containers of modules that were `used`, that the model has not
    registered, and whose ids are not among those `known` to optimizers."""
    met = {*known, *(id(p) for p in model.parameters())}
    for name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute.startswith("_") or not isinstance(value, list | tuple | dict):
                continue
            for place, parameter in parameters_in(
                value, f"{name}.{attribute}" if name else attribute, DEPTH
            ):
                if id(parameter) not in met and used(parameter):
                    met.add(id(parameter))
                    yield place, parameter


def parameters_in(found: Any, place: str, depth: int) -> Iterator[tuple[str, torch.Tensor]]:
    """All parameters in nested plain containers, with their names."""
    if isinstance(found, nn.Parameter):
        yield place, found
    elif isinstance(found, nn.Module):
        yield from ((f"{place}.{name}", p) for name, p in found.named_parameters())
    elif depth and isinstance(found, dict):
        for key, value in found.items():
            yield from parameters_in(value, f"{place}[{key}]", depth - 1)
    elif depth and isinstance(found, list | tuple):
        for index, value in enumerate(found):
            yield from parameters_in(value, f"{place}[{index}]", depth - 1)
