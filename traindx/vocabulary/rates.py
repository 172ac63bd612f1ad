"""The shapes of a search for the learning rate: sweeps, what they suggest, rates that were tried.

Field names are those of the JSON document `traindx.find-lr/1`.
"""

import msgspec

RATES_SCHEMA = "traindx.find-lr/1"


class SweepTrace(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the script with a rising rate: `rates[n]`, and `losses[n]` after the steps made
    with them. `diverged`: it ended because the loss was not finite, or far above where it began."""

    seed: int
    rates: tuple[float, ...]
    losses: tuple[float, ...]
    smoothed: tuple[float, ...]
    diverged: bool
    seconds: float


class TriedRate(msgspec.Struct, frozen=True, kw_only=True):
    """One start of the script with a constant rate: `loss` is the level over its last tenth, NaN
    where it diverged; `steps` those that it made."""

    rate: float
    seed: int
    loss: float
    steps: int


class RateSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What `traindx find-lr --format json` prints.

    `suggested` is None where the sweeps show nothing, and `reason` says why. `low` and `high` are
    the rates between which the suggestion is when each sweep, and each half of it, is read alone.
    `steepest`: where the loss falls fastest against log rate; `safe`: the largest rate that is
    likely to go well for long; `open_end`: the loss still fell at the highest rate, so that `safe`
    may be larger. `tried` and `good` (the lowest and highest of the tried rates that end about as
    well as the best) belong to `--sensitivity`."""

    schema: str = RATES_SCHEMA
    traindx_version: str
    command: tuple[str, ...]
    optimizer: str | None = None
    suggested: float | None = None
    low: float | None = None
    high: float | None = None
    steepest: float | None = None
    safe: float | None = None
    open_end: bool = False
    reason: str = ""
    steps: int
    seeds: tuple[int, ...]
    sweeps: tuple[SweepTrace, ...]
    tried: tuple[TriedRate, ...] = ()
    good: tuple[float, float] | None = None
    notes: tuple[str, ...] = ()
    seconds: float
