"""Signals of quantization: by module, and metrics that are logged with and without it."""

from collections.abc import Callable

import msgspec
import numpy as np

from traindx.features.curve import Curve
from traindx.features.per_module.panels import module_panel, typical
from traindx.features.shared import Features
from traindx.features.statistics import median
from traindx.vocabulary import (
    QUANTIZED,
    UNQUANTIZED,
    Bools,
    CannotJudge,
    Floats,
    Panel,
    direction_of,
    series,
)

FEW = 6  # points of a gap
# Of the float metric's progress. Quantization improves no metric that much: the loss of a codebook is a part of the
# total, not the total with quantization.
BETTER = 0.1


class Gap(msgspec.Struct, frozen=True):
    """A metric with quantization less the same without (larger is worse), as `curve`; `name` is the
    quantized one's, `reference` the float one's ("" where the gap itself was logged), `span` how far the
    float metric came (None where it is not known)."""

    curve: Curve
    name: str
    reference: str
    span: float | None


def trained_quantized(features: Features, name: str, missing: str) -> Panel:
    """The panel `name` of a network that is quantized during training, with a finite value in it.

    Raises CannotJudge, in the words of `missing` if there is no such value.
    """
    if features.run.setup.word("quantized_in") == "evaluation":
        raise CannotJudge("weights are quantized in evaluation only")
    found = module_panel(features, name)
    if found is None or not np.isfinite(found.values).any():
        raise CannotJudge(missing)
    return found


def late_values(found: Panel, share: float) -> Floats:
    """Typical value of each module over the last `share` of the steps; shape `[m]`, NaN where unknown."""
    first, last = float(found.steps[0]), float(found.steps[-1])
    return typical(found.values[found.steps >= last - share * (last - first)])


def onset(found: Panel, place: int, reached: Callable[[Floats], Bools]) -> float:
    """First step from which a module's values stay as `reached` says; the last one where they do not."""
    known = np.isfinite(found.values[:, place])
    steps, values = found.steps[known], found.values[known, place]
    away = np.flatnonzero(~reached(values))
    start = int(away[-1]) + 1 if len(away) else 0
    return float(steps[min(start, len(steps) - 1)]) if len(steps) else float(found.steps[-1])


def gaps(features: Features) -> list[Gap]:
    """What is lost by quantization, from each pair of metrics with a known direction, losses first."""
    out = []
    own = features.curve("quant/loss_gap")
    objective = features.objective
    if own is not None and own.n >= FEW:
        span = objective.span if objective is not None and objective.sign > 0 else None
        out.append(Gap(own, own.name, "", span))
    for name, reference in sorted(pairs_of(features), key=lambda p: ("loss" not in p[0], p[0])):
        one, other = features.curve(name), features.curve(reference)
        if one is None or other is None or min(one.n, other.n) < FEW:
            continue
        steps = one.steps[(one.steps >= other.steps[0]) & (one.steps <= other.steps[-1])]
        if len(steps) >= FEW:
            levels = np.interp(steps, other.steps, other.as_loss)
            apart = one.as_loss[np.isin(one.steps, steps)] - levels
            if median(apart) >= -BETTER * other.span:
                out.append(Gap(Curve("quant/gap", series(steps, apart)), name, reference, other.span))
    return out


def pairs_of(features: Features) -> list[tuple[str, str]]:
    """Names of metrics with quantization, each with that of the same metric without."""
    plain = {key(n, UNQUANTIZED): n for n in features.run.series if not words_of_name(n) & QUANTIZED}
    pairs = [(n, plain.get(key(n, QUANTIZED))) for n in features.run.series if words_of_name(n) & QUANTIZED]
    return [(n, other) for n, other in pairs if other is not None and direction_of(n) != "none"]


def words_of_name(name: str) -> set[str]:
    return set(name.lower().replace("/", "_").replace("-", "_").split("_"))


def key(name: str, without: frozenset[str]) -> tuple[str, ...]:
    """A name's words, in any order, but for some."""
    return tuple(sorted(words_of_name(name) - without))
