"""Which parameters are trained, and which do not move although they should."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from traindx.capture.session.backend import Backend
from traindx.capture.session.layout import Layout
from traindx.vocabulary.run import Floats, Ints
from traindx.vocabulary.setup import Fact

CHECKS = 3  # sampled steps before a parameter is judged
FEWEST = 2  # of them where the run has no more
NAMED = 10  # parameters that a fact names
SEEN, GRADED, NONZERO, ASKED, MOVED = range(5)


class Movement:
    """Counts for each parameter over the sampled steps: steps seen, with a gradient, with one that
    is not zero (in the window that is read), those of them with a learning rate, and those in
    which it changed."""

    def __init__(self, layout: Layout, backend: Backend) -> None:
        self._layout, self._backend = layout, backend
        self._counts: Ints = np.zeros((5, 0), np.int64)
        self._nonzero: Ints = np.zeros(0, np.int64)

    def _fit(self) -> None:
        more = len(self._layout.parameters) - self._counts.shape[1]
        if more > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))
            self._nonzero = np.pad(self._nonzero, (0, more))

    def gradients(self, places: Ints, zero_shares: Floats) -> None:
        """Share of zeros in the gradients of these parameters (NaN: there was none)."""
        self._fit()
        self._nonzero[:] = 0
        self._nonzero[places] = zero_shares < 1
        self._counts[SEEN, places] += 1
        self._counts[GRADED, places] += ~np.isnan(zero_shares)
        self._counts[NONZERO, places] += zero_shares < 1

    def changes(self, places: Ints, rates: Floats, unchanged: Floats) -> None:
        """Share of values that stayed as they were in the step just read."""
        asked = (self._nonzero[places] > 0) & (rates != 0) & ~np.isnan(unchanged)
        self._counts[ASKED, places[asked]] += 1
        self._counts[MOVED, places[asked & (unchanged < 1)]] += 1

    def facts(self, optimizers: Sequence[Any], ever: Collection[int] = ()) -> dict[str, Fact]:
        """Counts and names of parameters by what is wrong with them (docs/capture.md). `ever`: places that
        an optimizer has held, which counts of those that are gone."""
        self._fit()
        layout, counts = self._layout, self._counts
        held = {id(p) for o in optimizers if o is not None for p in self._backend.given(o)}
        every = range(len(layout.parameters))
        wanted = np.array([layout.trainable(i) for i in every], bool)
        inside = np.array([i in ever for i in every], bool)
        gone = any(o is None for o in optimizers)  # a model often outlives its optimizer: `return model`
        for place, parameter in layout.alive():
            inside[place] = id(parameter) in held or (gone and place in ever)
        often = counts[SEEN] >= max(FEWEST, min(CHECKS, int(counts[SEEN].max(initial=0))))
        sizes = [layout.size(i) for i in every]
        out: dict[str, Fact] = {
            "parameters": sum(sizes),
            "parameters_total": sum(sizes),
            "parameters_trainable": int(np.dot(wanted, sizes)) if sizes else 0,
        }
        for name, those in (
            ("parameters_frozen", ~wanted),
            ("parameters_without_optimizer", wanted & ~inside),
            ("parameters_without_gradient", wanted & often & (counts[GRADED] == 0)),
            ("parameters_with_zero_gradient", often & (counts[GRADED] > 0) & (counts[NONZERO] == 0)),
            ("parameters_not_moving", (counts[ASKED] >= CHECKS) & (counts[MOVED] == 0)),
        ):
            found = np.flatnonzero(those)
            out[name] = sum(sizes[i] for i in found)
            out[f"{name}_tensors"] = len(found)
            if len(found):
                out[f"{name}_names"] = ", ".join(layout.names[i] for i in found[:NAMED])
        return out
