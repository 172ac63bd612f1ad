"""Experiments on an unmodified script: joins trials, which run and judge, with capture, which
records and intervenes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from traindx.capture.launch import Request, environment, start_folder
from traindx.errors import ConfigError
from traindx.trials import conduct as trials


def record(
    out: Path, interventions: Sequence[str], steps: int | None, base: Mapping[str, str], folder: str
) -> dict[str, str]:
    """Make the folder `out` and the environment in which a command records itself there.

    Raises ConfigError where the folder cannot be, or an intervention is unknown."""
    if interventions:
        raise ConfigError("interventions are not built yet")
    start_folder(out)
    return environment(Request(out, steps), base, folder)


conduct = partial(trials.conduct, record=record)
