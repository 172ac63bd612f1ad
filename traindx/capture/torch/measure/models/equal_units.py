"""Units of a layer that start with equal weights, and whether training makes them different.

Units with equal incoming and outgoing weights compute the same and get the same gradient, so they stay equal
for ever (Goodfellow et al. 2016, Deep learning, section 8.4, https://www.deeplearningbook.org). Weights that
start at zero on purpose (a last layer, a residual branch) are equal at first, too, but do not stay so. Hence
both are measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from traindx.capture.torch.measure.tensors.views import local
from traindx.vocabulary.setup import Fact

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
    rows = local(weight)[:MOST_UNITS].reshape(min(len(local(weight)), MOST_UNITS), -1)
    if len(rows) < 2:
        return 0.0
    stride = max(1, rows.shape[1] // MOST_VALUES)
    values = rows[:, ::stride][:, :MOST_VALUES].float().cpu().numpy()
    _, place, counts = np.unique(values, axis=0, return_inverse=True, return_counts=True)
    return float((counts[place.reshape(-1)] > 1).mean())
