"""A session of rounds: names of evaluated sets and metrics as signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from traindx.capture.session.backend import Backend
from traindx.capture.session.layout import Part
from traindx.vocabulary.setup import Fact

LOSSES = ("loss", "logloss", "mlogloss", "rmse", "mae", "l1", "l2", "binary_logloss", "multi_logloss", "multiclass",
          "mse", "huber", "crossentropy")  # fmt: skip
TRAINED = ("train", "learn", "dtrain")


class RoundsBackend(Backend):
    """Neither parameters nor optimizers."""

    def __init__(self, name: str) -> None:
        self.name = name

    def parts(self, model: Any, prefix: str) -> Sequence[Part] | None:
        return None

    def size(self, parameter: Any) -> int:
        return 0

    def given(self, optimizer: Any) -> list[Any]:
        return []

    def gradient_squares(self, parameters: Sequence[Any], elsewhere: bool) -> list[float]:
        return []

    def optimizer_facts(self, optimizer: Any) -> dict[str, Fact]:
        return {}


def signals(evaluated: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Signals of `evaluated[set][metric]`. A set is the training's by its name, or as the first of several; the last
    of the others is the validation. The first metric that is a loss is `loss`."""
    names = list(evaluated)
    first = names[0] if len(names) > 1 else ""
    trained = next((n for n in names if any(word in n.lower() for word in TRAINED)), first)
    others = [name for name in names if name != trained]
    out: dict[str, float] = {}
    for split, name in (("train", trained), ("val", others[-1] if others else "")):
        metrics = evaluated.get(name, {})
        loss = next((metric for metric in metrics if metric.lower() in LOSSES), None)
        for metric, value in metrics.items():
            out[f"{split}/{'loss' if metric == loss else metric.lower()}"] = float(value)
    return out
