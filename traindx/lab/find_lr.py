"""The search for a learning rate: range tests (Smith 2017, arXiv:1506.01186) with several seeds, and
constant rates."""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np

from traindx.errors import ExperimentFailed
from traindx.features.comparisons import rate_sweep
from traindx.lab.conduct.attempts import Attempt, attempt, fence_notes
from traindx.lab.conduct.experiment import Bounds, Conducted
from traindx.redaction import redact
from traindx.temporary import RECORDS, temporary_folder
from traindx.version import VERSION
from traindx.vocabulary import Run
from traindx.vocabulary.rates import RateSearch, SweepTrace, TriedRate

LONGER = 3  # times as many steps if the first sweeps are too noisy
WHOLE = 0.95  # share of its steps that a sweep must have made to count as complete
TRIED = (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5)  # decades around the suggestion


class Plan(NamedTuple):
    """From which rate to which, in how many steps, with which seeds."""

    low: float = 1e-7
    high: float = 10.0
    steps: int = 200
    seeds: tuple[int, ...] = (0, 1)
    sensitivity: bool = False


# Starts the script under interventions for so many steps. The last argument gets the record so far, and ends
# the run if it returns True.
Start = Callable[[Sequence[str], int, Callable[[Run], bool]], Attempt]


class SeedSweep(NamedTuple):
    """The sweep of one seed. `short`: it ended before the highest rate, for another reason than the rate."""

    seed: int
    sweep: rate_sweep.Sweep
    run: Run
    conducted: Conducted
    short: bool

    @property
    def trace(self) -> SweepTrace:
        return SweepTrace(
            seed=self.seed,
            rates=tuple(self.sweep.rates.tolist()),
            losses=tuple(self.sweep.losses.tolist()),
            smoothed=tuple(self.sweep.smoothed.tolist()),
            diverged=self.sweep.diverged,
            seconds=round(self.conducted.seconds, 3),
        )


class Swept(NamedTuple):
    """Sweeps of all seeds with the same number of steps, and their common result."""

    steps: int
    sweeps: tuple[SeedSweep, ...]
    found: rate_sweep.Suggestion | str


def search(plan: Plan, start: Start, notify: Callable[[str], None]) -> Swept:
    """Sweep with every seed; again with fewer steps if the script makes no more, or with more if the loss is
    too noisy. Raises ExperimentFailed when the script cannot be swept at all."""
    first = one_sweep(plan, plan.seeds[0], start, notify)
    if first.short:
        seen = len(first.sweep.losses)
        if seen < rate_sweep.LEAST:
            raise ExperimentFailed(
                f"the script {first.conducted.describe_end()}, with {seen} usable steps; a sweep needs "
                f"{rate_sweep.LEAST}"
            )
        notify(
            f"the script {first.conducted.describe_end()} before the highest rate: sweeping again in {seen} steps"
        )
        plan = plan._replace(steps=seen)
        swept = sweep_all(plan, one_sweep(plan, plan.seeds[0], start, notify), start, notify)
        return swept
    swept = sweep_all(plan, first, start, notify)
    if not isinstance(swept.found, str):
        return swept
    longer = plan._replace(steps=LONGER * plan.steps)
    notify(f"{swept.found}: sweeping again in {longer.steps} steps")
    first = one_sweep(longer, plan.seeds[0], start, notify)
    return swept if first.short else sweep_all(longer, first, start, notify)


def sweep_all(plan: Plan, first: SeedSweep, start: Start, notify: Callable[[str], None]) -> Swept:
    """The first sweep, those of the other seeds, and their common result."""
    ones = (first, *(one_sweep(plan, seed, start, notify) for seed in plan.seeds[1:]))
    return Swept(plan.steps, ones, rate_sweep.read([one.sweep for one in ones]))


def one_sweep(plan: Plan, seed: int, start: Start, notify: Callable[[str], None]) -> SeedSweep:
    """Sweep with one seed. Raises ExperimentFailed where no step, loss or rate was recorded."""
    what = (f"lr=sweep:{plan.low:g}:{plan.high:g}:{plan.steps}", f"seed={seed}")
    attempt = start(what, plan.steps, lambda run: "train/loss" in run.series and swept_rates(run).diverged)
    found = swept_rates(read_record(attempt))
    if len(found.rates) > 1 and found.rates[-1] <= found.rates[0]:
        raise ExperimentFailed("the learning rate did not rise: something in the script keeps it fixed")
    if (
        not found.diverged
        and not attempt.conducted.ok
        and isinstance(rate_sweep.read([found]), rate_sweep.Suggestion)
    ):
        found = found._replace(diverged=True)  # it trained, and failed as the rate rose
    short = not found.diverged and len(found.losses) < WHOLE * (plan.steps - 1)
    end = "diverged" if found.diverged else attempt.conducted.describe_end()
    notify(f"seed {seed}: {len(found.losses)} steps in {attempt.conducted.seconds:.1f} s, {end}")
    return SeedSweep(seed, found, read_record(attempt), attempt.conducted, short)


def read_record(attempt: Attempt) -> Run:
    """The record. Raises ExperimentFailed without one, or without a loss in it."""
    if attempt.run is None:
        raise ExperimentFailed(attempt.why)
    if "train/loss" not in attempt.run.series:
        raise ExperimentFailed(
            "no training loss was recorded: the script calls none of PyTorch's loss functions"
        )
    return attempt.run


def swept_rates(run: Run) -> rate_sweep.Sweep:
    if "lr" not in run.series:
        raise ExperimentFailed("no learning rate was recorded: the script has no optimizer to sweep")
    return rate_sweep.sweep_of(run.series["lr"], run.series["train/loss"])


def try_rates(
    plan: Plan, suggested: float, steps: int, start: Start, notify: Callable[[str], None]
) -> tuple[TriedRate, ...]:
    """Train at constant rates around the suggestion, `steps` each, with every seed."""
    tried = []
    for decades in TRIED:
        rate = float(f"{suggested * 10**decades:.3g}")
        for seed in plan.seeds:
            attempt = start((f"lr={rate:g}", "lr=constant", f"seed={seed}"), steps, ended_diverged)
            losses = read_record(attempt).series["train/loss"].values
            loss = rate_sweep.final(losses)
            tried.append(TriedRate(rate=rate, seed=seed, loss=loss, steps=len(losses)))
            notify(f"rate {rate:g}, seed {seed}: " + ("diverged" if np.isnan(loss) else f"loss {loss:.4g}"))
    return tuple(tried)


def ended_diverged(run: Run) -> bool:
    return "train/loss" in run.series and rate_sweep.has_diverged(run.series["train/loss"].values)


def good_range(tried: Sequence[TriedRate], start: float) -> tuple[float, float] | None:
    """The lowest and highest rate that end about as well as the best."""
    levels: dict[float, list[float]] = {}
    for one in tried:
        levels.setdefault(one.rate, []).append(one.loss)
    return rate_sweep.good_rates(levels, start)


def find_rate(
    command: Sequence[str],
    plan: Plan,
    *,
    notify: Callable[[str], None] = lambda _: None,
    **bounds: Unpack[Bounds],
) -> RateSearch:
    """Search the learning rate of an unmodified script, within `bounds` of each start.

    Raises ConfigError for an unknown program, ExperimentFailed where nothing was recorded."""
    begun = time.monotonic()
    with temporary_folder(RECORDS) as place:
        starts = 0

        def start(what: Sequence[str], steps: int, over: Callable[[Run], bool]) -> Attempt:
            nonlocal starts
            starts += 1
            return attempt(command, place / str(starts), what, steps, over, **bounds)

        swept = search(plan, start, notify)
        found = swept.found if isinstance(swept.found, rate_sweep.Suggestion) else None
        tried: tuple[TriedRate, ...] = ()
        if plan.sensitivity and found is not None:
            tried = try_rates(plan, found.reading.suggested, swept.steps, start, notify)
    return RateSearch(
        traindx_version=VERSION,
        command=tuple(redact(command)),
        optimizer=swept.sweeps[0].run.setup.word("optimizer"),
        reason=swept.found if isinstance(swept.found, str) else "",
        steps=swept.steps,
        seeds=plan.seeds,
        sweeps=tuple(one.trace for one in swept.sweeps),
        tried=tried,
        good=good_range(tried, found.reading.start) if found is not None else None,
        notes=notes(swept),
        seconds=round(time.monotonic() - begun, 3),
        **({} if found is None else suggestion_fields(found)),
    )


def suggestion_fields(found: rate_sweep.Suggestion) -> dict[str, Any]:
    """The fields of a search that a suggestion fills."""
    reading = found.reading
    return {
        "suggested": round_rate(reading.suggested),
        "low": round_rate(found.low),
        "high": round_rate(found.high),
        "steepest": round_rate(reading.steepest),
        "safe": round_rate(reading.safe),
        "open_end": reading.open_end,
    }


def round_rate(rate: float) -> float:
    """Two digits, because no more are known."""
    return float(f"{rate:.2g}")


def notes(swept: Swept) -> tuple[str, ...]:
    """What the user should know about how the search was done."""
    messages: list[str] = []
    for one in swept.sweeps:
        messages += [e.message for e in one.run.events if e.code == "intervention-unused"]
        messages += fence_notes(one.conducted)
    return tuple(dict.fromkeys(messages))
