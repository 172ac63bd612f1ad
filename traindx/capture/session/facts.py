"""Names and setup facts that need no measuring."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from traindx.redaction import redact
from traindx.vocabulary import SIGNALS, Fact

if TYPE_CHECKING:
    from traindx.capture.session.clock import Clock
    from traindx.capture.session.habits import Habits
    from traindx.capture.session.pace import Pace
    from traindx.capture.session.steps import Steps
    from traindx.capture.session.watched import Watched

# Environments that an agent acts in: whoever loads one trains by rewards, and the loss says little.
SIMULATORS = (
    "gymnasium",
    "gym",
    "pettingzoo",
    "dm_control",
    "envpool",
    "procgen",
    "brax",
    "gymnax",
    "mani_skill",
)
CANONICAL = frozenset(kind.name for kind in SIGNALS)


def signal_name(name: str, prefix: str) -> str:
    """The signal of a value that the loop names: as it is when it is canonical or says its split."""
    return name if name in CANONICAL or "/" in name else prefix + name


def versions(libraries: Sequence[str]) -> dict[str, str]:
    """Versions of Python, traindx, numpy and those of the libraries that are loaded."""
    out = {"python": platform.python_version()}
    for name in ("traindx", *libraries, "numpy"):
        found = getattr(sys.modules.get(name), "__version__", None)
        if found is not None:
            out[name] = str(found)
    return out


def script() -> dict[str, str]:
    """What was started, as it is recorded: without secrets."""
    return {"path": sys.argv[0] if sys.argv else "", "argv": " ".join(redact(sys.argv[1:]))}


def facts_of(
    watched: Watched, given: dict[str, Fact], habits: Habits, clock: Clock, pace: Pace, steps: Steps
) -> dict[str, Fact]:
    """What is known by now; what was `given` counts before what was seen."""
    played = next((name for name in SIMULATORS if name in sys.modules), None)
    facts = {
        **({"simulator": played} if played else {}),
        **watched.facts(),
        **given,
        **habits.facts(),
        **clock.facts(),
    }
    if pace.left_out:
        facts["not_measured"] = ", ".join(pace.left_out)
    for signal, step in steps.first_bad.items():
        facts[f"nonfinite_first_step/{signal}"] = step
    if steps.peak_rate and "lr" not in facts:  # a schedule, whose rate at the end may be 0
        facts["lr"] = steps.peak_rate
    return facts
