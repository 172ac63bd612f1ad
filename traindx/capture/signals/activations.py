"""Activations of the modules that a sampled forward pass calls."""

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from traindx.capture.signals.family import Cost, Family, Panel
from traindx.vocabulary import Floats

FIELDS = ("act_mean", "act_std", "act_absmax", "act_nonfinite", "act_saturated_fraction", "act_rank")
COLUMNS = (*FIELDS, "act_zero_fraction")
MOMENTS = 3  # first fields, which all modules have: where they are NaN that is what was measured


def panels(modules: tuple[str, ...], values: Floats) -> Iterator[Panel]:
    """From `[modules, COLUMNS]`, NaN where a module has no such thing: each signal with the modules that
    have it."""
    table = np.asarray(values).reshape(len(modules), -1)
    known = ~np.isnan(table.T)
    known[:MOMENTS] = True
    for place, signal in enumerate(COLUMNS):
        if known[place].any():
            yield signal, join_modules(modules, known[place].tobytes()), table[known[place], place]


@lru_cache(maxsize=256)
def join_modules(modules: tuple[str, ...], mark: bytes) -> str:
    """The names of the modules that are marked."""
    return "\n".join(name for name, marked in zip(modules, mark, strict=True) if marked)


FAMILY = Family(
    "activations", tuple(f"{name}/<module>" for name in COLUMNS), "by module", "sample",
    Cost(20.0, each=40.0, value=1.0), optional=True,
    asks=("dead-relus", "saturating-activations", "bad-initialization", "deep-without-skip-or-norm"), panels=panels,
)  # fmt: skip
