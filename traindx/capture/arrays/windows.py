"""How a step changes weights, seen through a part of each that moves on from sample to sample. A framework
copies the parts before the step and after it."""

from collections.abc import Callable, Sequence

import numpy as np

from traindx.capture.arrays.activations import square_sum
from traindx.capture.arrays.data import Array

WINDOW = 1 << 13  # values of a parameter that its update is judged by


def window(values: Array, turn: int, size: int = WINDOW) -> Array:
    """`size` of the values, in single precision: the first ones in turn 1, and those that follow in each
    later one. All, where there are no more."""
    flat = values.reshape(-1)
    start = (turn - 1) * size % (len(flat) - size + 1) if len(flat) > size else 0
    return np.array(flat[start : start + size], np.float32)


class Windows:
    """`Updates` of a session whose steps are reported after they were made. `before` is called ahead of a
    step; `now` returns the parts of the parameters at the time, `shares` the zeros of their gradients."""

    number_format = ""

    def __init__(self, now: Callable[[int], Sequence[Array]], shares: Callable[[], Array]) -> None:
        self._now, self._shares = now, shares
        self.turn = 0
        self._before: Sequence[Array] | None = None

    def before(self) -> None:
        """The step comes."""
        self.turn += 1
        self._before = self._now(self.turn)

    def begin(self, parameters: Sequence[object]) -> Array:
        """`zero_share[p]` of the gradients."""
        return self._shares()

    def end(self, count: int) -> Array:
        """`[3 * count]`: as `change_norms`, NaN where unknown."""
        out = np.full((3, count), np.nan)
        before, self._before = self._before, None
        if before is not None:
            for place, (old, new) in enumerate(zip(before, self._now(self.turn), strict=True)):
                if len(old):
                    out[:, place] = change_norms(old, new)
        return out.reshape(-1)


def change_norms(old: Array, new: Array) -> tuple[float, float, float]:
    """Norm of the change from `old[n]` to `new[n]`, norm of `old`, share that did not change. Of weights
    that are not finite any more the norms are infinite, so that the rest of their module does not hide
    it."""
    change = new - old
    moved, size = square_sum(change) ** 0.5, square_sum(old) ** 0.5
    if not (np.isfinite(moved) and np.isfinite(size)):
        return np.inf, np.inf, np.nan
    return moved, size, np.count_nonzero(change == 0) / len(change)


def sizes(values: Sequence[Array]) -> Array:
    """The reading of `signals/weights.py`, `[2 * parameters]`: L2 norms, then largest absolute values."""
    norms = [square_sum(v.reshape(-1).astype(np.float32, copy=False)) ** 0.5 for v in values]
    return np.array([*norms, *(float(np.abs(v).max()) if v.size else 0.0 for v in values)])


def gains(matrices: Sequence[tuple[str, Array]]) -> dict[str, str | int | float | bool]:
    """Facts of the smallest and the largest gain of layers, from their names and `weights[..., inputs,
    units]`: root mean square times the root of what one unit takes in. What starts at zero does so on
    purpose."""
    found = []
    for name, weight in matrices:
        rms = float(np.sqrt(np.mean(np.square(weight, dtype=np.float64)))) if weight.size else 0.0
        if 0 < rms < np.inf:
            found.append((rms * float(np.sqrt(weight.size / weight.shape[-1])), name))
    return gain_facts(found)


def gain_facts(found: Sequence[tuple[float, str]]) -> dict[str, str | int | float | bool]:
    """The smallest and the largest of some gains, and the names of their weights."""
    if not found:
        return {}
    low, high = min(found), max(found)
    return {"initial_gain_min": low[0], "initial_gain_min_name": low[1],
            "initial_gain_max": high[0], "initial_gain_max_name": high[1]}  # fmt: skip
