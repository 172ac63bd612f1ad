"""Weights in the host's memory, read where a step is sampled: a part of each, before the step and after it,
which moves on from sample to sample; and on some samples all of them."""

import time
from collections.abc import Sequence

import numpy as np

from traindx.capture.arrays.data import Array
from traindx.capture.arrays.windows import change_norms, sizes, window
from traindx.capture.compiled.backend import ROWS, CompiledBackend
from traindx.capture.compiled.steps import READINGS, Steps
from traindx.capture.signals import weights as of_weights

MOVED = 0.7  # of their norm: weights that are drawn again are 1.4 of it apart


class Near:
    """Receives what a step sends, and hands its readings on. What is kept is copied: arrays end with the
    call."""

    def __init__(self, steps: Steps, backend: CompiledBackend) -> None:
        self._steps, self._session, self._backend = steps, steps.session, backend
        self._turn = 0
        self._sizes = np.full((2, 1), np.nan)  # of the weights before the step at hand, where they were read
        self._before: list[Array] = []  # parts of them, where it is sampled
        self._latest: tuple[list[Array], int] = [], 0  # the last of these parts, and their turn
        self._open: Array | None = None  # readings of a sampled step, which lack what changed

    def receive(self, place: int, *values: Array) -> None:
        """The weights before a step, where there are any; then norms and shares of zeros of its gradients,
        and of updates where there are no weights. Last may be whether weights change in this step."""
        if values and values[-1].dtype == bool:
            if not values[-1]:
                return
            values = values[:-1]
        if place == 0:
            self._over(values)
            self._steps.finish_steps()  # now it is known whether this step is sampled
            self._begin(values)
            return
        held = np.full((ROWS if len(values) == 2 else READINGS, len(values[0])), np.nan)
        held[: len(values)] = values
        held[3:5] = self._sizes
        if self._before:
            self._open = held
        self._steps.add_readings(held)

    @property
    def compares(self) -> bool:
        """Whether the weights after the step at hand are to be compared with those before it."""
        return bool(self._before)

    def _over(self, weights: Sequence[Array]) -> None:
        """The weights after the step before."""
        held, self._open = self._open, None
        if held is None or not weights:
            return
        began = time.perf_counter()
        for place, (old, values) in enumerate(zip(self._before, weights, strict=True)):
            if len(old):
                held[[2, 5, 6], place] = change_norms(old, window(values, self._turn))
        self._spent(began)

    def _begin(self, weights: Sequence[Array]) -> None:
        self._before, self._sizes = [], np.full((2, 1), np.nan)
        if not self._session.sampling or not weights:
            return
        began = time.perf_counter()
        self._turn += 1
        self._before = [window(values, self._turn) for values in weights]
        self._latest = self._before, self._turn
        if (self._turn - 1) % of_weights.FAMILY.apart == 0:
            self._sizes = sizes(weights).reshape(2, -1)
        self._spent(began)

    def continued_by(self, weights: Sequence[Array]) -> bool:
        """Whether these weights, of the same shapes, are those of the last sampled step, but for what training has
        moved since then: nearer to them than to zero. Also where none were read."""
        held, turn = self._latest
        moved = sum(
            float(np.square(window(w, turn) - old).sum()) for w, old in zip(weights, held, strict=False)
        )
        return not held or moved < MOVED**2 * sum(float(np.square(old).sum()) for old in held)

    def ended(self) -> None:
        """The next weights are of another training: what the last step changed is not known."""
        self._open = None

    def _spent(self, began: float) -> None:
        if self._backend.observer is not None:
            self._backend.observer.seconds += time.perf_counter() - began
