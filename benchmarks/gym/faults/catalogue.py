"""Every fault of the gym."""

from __future__ import annotations

from benchmarks.gym.faults import data, loop, model, optimization, quantization, systems
from benchmarks.gym.faults.fault import Fault

MODULES = (optimization, model, data, loop, systems, quantization)


def catalogue() -> tuple[Fault, ...]:
    """All of them, family by family."""
    return tuple(fault for module in MODULES for fault in module.FAULTS)
