"""The faults of the programs, by family."""

from __future__ import annotations

from benchmarks.gym.programs.edits import (
    data,
    lookalikes,
    loop,
    model,
    optimization,
    quantization,
    rates,
    several,
    systems,
)
from benchmarks.gym.programs.program import Edit

FAMILIES = (optimization, model, data, loop, quantization, systems, several, lookalikes)


def all_edits() -> list[Edit]:
    """Every edit, of faults and of look-alikes."""
    return [*rates.edits(), *(edit for family in FAMILIES for edit in family.EDITS)]
