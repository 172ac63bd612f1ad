"""Faults that the manifest's texts allow in every program: the rate, the clearing of gradients, the step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from benchmarks.gym.programs.manifest import PROGRAMS
from benchmarks.gym.programs.program import NUMBER, Edit, Severity, edit

HIGH: tuple[tuple[float, Severity], ...] = ((10, "mild"), (100, "clear"), (1000, "gross"))
LOW: tuple[tuple[float, Severity], ...] = ((0.05, "mild"), (0.005, "clear"), (0.0005, "gross"))
NEVER_CLEARED, NEVER_STEPS = 2, 5  # every so manieth program


def times(text: str, factor: float) -> str:
    """The text with its last number multiplied."""
    last = list(NUMBER.finditer(text))[-1]
    return f"{text[: last.start()]}{float(last[0]) * factor:g}{text[last.end() :]}"


def edits() -> Iterator[Edit]:
    rated = [name for name, base in PROGRAMS.items() if base.rate]
    for name, (factor, severity) in zip(rated, cycle(HIGH), strict=False):
        rate = PROGRAMS[name].rate
        yield edit(
            name, f"rate-times-{factor:g}", "learning-rate-too-high", severity, rate, times(rate, factor)
        )
    for name, (factor, severity) in zip(rated[::2], cycle(LOW), strict=False):
        rate = PROGRAMS[name].rate
        yield edit(name, f"rate-times-{factor:g}", "learning-rate-too-low", severity, rate, times(rate, factor),
                   also=("undertrained",))  # fmt: skip
    clearing = [name for name, base in PROGRAMS.items() if base.zero]
    for name in clearing[::NEVER_CLEARED]:
        yield edit(name, "never-cleared", "missing-zero-grad", "clear", PROGRAMS[name].zero, "pass")
    stepping = [name for name, base in PROGRAMS.items() if base.step]
    for name in stepping[3::NEVER_STEPS]:
        yield edit(name, "never-steps", "missing-optimizer-step", "gross", PROGRAMS[name].step, "pass")
