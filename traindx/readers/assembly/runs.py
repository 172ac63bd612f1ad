"""From what a format's reader found to frozen runs: split, join, name, convert."""

import math
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from traindx.features.statistics import median
from traindx.readers.assembly.plausible_values import repair_column, repair_values
from traindx.readers.assembly.restarts import (
    Cut,
    find_cuts,
    find_cuts_by_level,
    holds_ranks,
    part_by_rank,
    rank_column,
)
from traindx.readers.assembly.step_axis import (
    axis_kind,
    back_jumps,
    densest,
    find_axis,
    is_inner_counter,
    spread,
    steps_of,
    unroll_counter,
)
from traindx.readers.names.aliases import role_of
from traindx.readers.names.roles import assign, describe_doubt, summed_losses
from traindx.readers.names.units import to_canonical_unit
from traindx.readers.raw import RawColumn, RawLog
from traindx.readers.setup_facts import COUNTS, FIELD_OF, WORDS
from traindx.redaction import redact_facts, redact_text
from traindx.vocabulary import (
    ENDINGS,
    FACT_FIELDS,
    Event,
    Fact,
    Floats,
    Ints,
    Panel,
    Run,
    Series,
    Setup,
    format_step,
    frozen_array,
    series,
)


def assemble(raw: RawLog, given: Mapping[str, str] | None = None) -> tuple[Run, ...]:
    """The runs of one log. `given` maps canonical names to columns by the user's word."""
    repair_values(raw)
    with_steps(raw)
    part_by_rank(raw)
    chosen = assign(raw, given or {})
    totals = summed_losses(chosen, raw)
    named = {signal: (raw.columns[name], name) for signal, name in chosen.items()} | totals
    doubt = describe_doubt(named, given or {}, raw)
    if doubt:
        raw.events.append(Event("note", doubt, code="doubtful-loss"))
    loss = next((named[name][0] for name in ("train/loss", "val/loss") if name in named), None)
    if raw.axis_kind == "row" and loss is not None and len(loss.values):
        cuts = find_cuts_by_level(
            loss, 1 + max(int(c.rows[-1]) for c in raw.columns.values() if len(c.rows))
        )
    else:
        cuts = find_cuts(raw, loss)
    runs = [build(raw, named, cut, number, len(cuts)) for number, cut in enumerate(cuts)]
    kept = [run for run in runs if run.series or run.panels or run.events]
    return tuple(kept or runs[:1])


def with_steps(raw: RawLog) -> None:
    """Give every column its own steps, from the axis column or its own; a counter within epochs
    is turned into one over the run. The axis column itself stays, as it may be a signal too."""
    own = all(c.steps is not None for c in raw.columns.values())
    if raw.axis is None and not own:
        raw.axis = find_axis(raw.columns)
        if raw.axis:
            raw.columns[raw.axis] = repair_column(raw.columns[raw.axis], counted=True)
    axis = raw.columns.get(raw.axis) if raw.axis else None
    ranked = rank_column(raw)
    by_rank = ranked is not None and holds_ranks(raw.columns[ranked], steps_of(raw.columns[ranked], axis))
    if axis is not None and len(axis.values) and not by_rank:
        axis = unroll_if_inner(raw, axis)
        if axis_kind(raw.axis) == "epoch":
            axis = spread(axis, densest(raw, raw.axis))
    for name, column in raw.columns.items():
        if column.steps is None:
            raw.columns[name] = RawColumn(column.values, column.rows, steps_of(column, axis), column.times)
    if raw.axis_kind is None:
        raw.axis_kind = axis_kind(raw.axis) or "step" if raw.axis or own else "row"


def unroll_if_inner(raw: RawLog, axis: RawColumn) -> RawColumn:
    jumps = back_jumps(axis.values)
    # A rate or a score says less: a constant rate "goes on" wherever another run begins.
    reference = max(
        filter(None, (loss_column(raw), densest(raw, raw.axis))), key=lambda c: len(c.rows), default=None
    )
    if reference is None or not len(jumps) or reference.steps is not None:
        return axis
    index = np.searchsorted(reference.rows, axis.rows)
    values = reference.values[np.clip(index, 0, len(reference.values) - 1)]
    if goes_on_outside(raw, axis, jumps) or is_inner_counter(axis.values, values, jumps):
        return RawColumn(unroll_counter(axis.values, jumps), axis.rows)
    return axis


def loss_column(raw: RawLog) -> RawColumn | None:
    """The longest column whose name says that it is the loss."""
    named = ("train/loss", "val/loss")
    losses = [c for n, c in raw.columns.items() if (raw.roles.get(n) or role_of(n).signal) in named]
    return max(losses, key=lambda c: len(c.rows), default=None)


def goes_on_outside(raw: RawLog, axis: RawColumn, jumps: Ints) -> bool:
    """Whether another counter (epoch, episode) of the same rows rises wherever the axis falls back, and
    never falls."""
    for name, column in raw.columns.items():
        if name == raw.axis or axis_kind(name) is None or not np.array_equal(column.rows, axis.rows):
            continue
        change = np.diff(column.values)
        if (change >= 0).all() and (change[jumps - 1] > 0).all():
            return True
    return False


def build(raw: RawLog, named: Mapping[str, tuple[RawColumn, str]], cut: Cut, number: int, of: int) -> Run:
    """One run from the rows of a cut."""
    built: dict[str, Series] = {}
    originals: dict[str, str] = {}
    for signal, (column, original) in named.items():
        lo, hi = np.searchsorted(column.rows, [cut.first, cut.last])
        if hi <= lo:
            continue
        assert column.steps is not None
        part = tidy(
            column.steps[lo:hi], column.values[lo:hi], None if column.times is None else column.times[lo:hi]
        )
        canonical = to_canonical_unit(signal, part, raw.units.get(original, ""), original)
        if canonical is not None:
            name, part = canonical
            built[name], originals[name] = part, original
    name = raw.source if of == 1 else f"{raw.source}#{number + 1}"
    setup = setup_of(raw.facts, built)
    late = () if raw.axis_kind == "row" else late_start(built, cut.events)
    events = (*late, *cut.events, *own_events(raw, cut))
    return Run(
        id=name,
        source=raw.source,
        format=raw.format,
        framework=raw.framework,
        axis=raw.axis_kind or "step",
        series=dict(sorted(built.items())),
        panels=panels_of(raw, cut),
        originals=originals,
        events=tuple(msgspec.structs.replace(event, message=redact_text(event.message)) for event in events),
        setup=setup,
        complete=is_complete(raw, built, setup, events) if number == of - 1 else None,
    )


def panels_of(raw: RawLog, cut: Cut) -> dict[str, Panel]:
    """The panels of a cut. Of rows repeated for a step (after a resume) the later one stays; what it lacks
    is taken from those before (each of two optimizers reports its own modules)."""
    built: dict[str, Panel] = {}
    for signal, panel in sorted(raw.panels.items()):
        inside = np.flatnonzero((panel.rows >= cut.first) & (panel.rows < cut.last))
        if len(inside):
            order = inside[np.argsort(panel.steps[inside], kind="stable")]
            steps, values = panel.steps[order], panel.values[order]
            repeated = np.diff(steps) <= 0
            for row in np.flatnonzero(repeated) + 1:
                lacking = np.isnan(values[row])
                values[row, lacking] = values[row - 1, lacking]
            kept = np.append(~repeated, True)
            built[signal] = Panel(frozen_array(steps[kept]), panel.modules, frozen_array(values[kept]))
    return built


def tidy(steps: Floats, values: Floats, times: Floats | None) -> Series:
    """Ascending steps; of values logged twice for a step (after a resume) the later one stays."""
    known = np.isfinite(steps)
    if not known.all():
        steps, values = steps[known], values[known]
        times = None if times is None else times[known]
    if len(steps) > 1 and (np.diff(steps) <= 0).any():
        order = np.argsort(steps, kind="stable")
        steps, values = steps[order], values[order]
        times = None if times is None else times[order]
        last = np.append(np.diff(steps) > 0, True)
        steps, values = steps[last], values[last]
        times = None if times is None else times[last]
    return series(steps, values, times)


def own_events(raw: RawLog, cut: Cut) -> tuple[Event, ...]:
    """Events of the log that fall into a cut; those without a row belong to the last run."""
    last_row = 1 + max((int(c.rows[-1]) for c in raw.columns.values() if len(c.rows)), default=0)
    rows = [raw.event_rows.get(i, last_row - 1) for i in range(len(raw.events))]
    return tuple(
        e for e, r in zip(raw.events, rows, strict=True) if cut.first <= min(r, last_row - 1) < cut.last
    )


def late_start(built: Mapping[str, Series], begun: Sequence[Event]) -> Sequence[Event]:
    """An event where a log, or one of several runs in it, begins in the middle of a run."""
    if not built or any(event.code == "late-start" for event in begun):
        return ()
    longest = max(built.values(), key=len)
    if len(longest) < 5:
        return ()
    first, spacing = float(longest.steps[0]), float(median(np.diff(longest.steps)))
    length = float(longest.steps[-1]) - first
    if first > 5 * spacing and first > 0.1 * max(length, 1e-300):
        return (
            Event(
                "resume",
                f"begins at step {format_step(first)}: the continuation of an earlier run",
                first,
                "first row",
                "late-start",
            ),
        )
    return ()


def setup_of(facts: Mapping[str, object], built: Mapping[str, Series]) -> Setup:
    """Facts of the log, and the peak learning rate where only its trace is known."""
    typed: dict[str, Fact] = {
        k: storable_fact(v)
        for k, v in redact_facts(dict(facts)).items()
        if isinstance(v, (str, int, float, bool))
    }
    for name in FACT_FIELDS & typed.keys():
        value = coerce_fact(name, typed[name])
        if value is None:
            typed.pop(name)
        else:
            typed[name] = value
    setup = Setup().with_facts({**constants(built), **typed}, "log")
    if setup.lr is None and "lr" in built:
        rates = built["lr"].values[np.isfinite(built["lr"].values)]
        if len(rates):
            setup = setup.with_facts({"lr": float(rates.max())}, "peak of the logged rate")
    return setup


def constants(built: Mapping[str, Series]) -> dict[str, Fact]:
    """Settings that are logged as a column, which never changes."""
    found: dict[str, Fact] = {}
    for name, column in built.items():
        field = FIELD_OF.get(name.rpartition("/")[2].lower())
        if (
            field in SETTINGS
            and len(column)
            and np.isfinite(column.values[0])
            and np.ptp(column.values) == 0
        ):
            found[field] = float(column.values[0])
    return found


def storable_fact(value: Fact) -> Fact:
    """A fact as it is; an integer that 64 bits do not hold becomes words: of 5,000 digits no text can be
    made."""
    return (
        value if not isinstance(value, int) or abs(value) < MOST_WHOLE else f"of {value.bit_length()} bits"
    )


SETTINGS = frozenset({"clip_norm", "weight_decay", "momentum", "accumulation", "batch_size"})
MOST_WHOLE = 1 << 63  # beyond, neither a float nor the readers of JSON keep an integer


def coerce_fact(name: str, value: Fact) -> Fact | None:
    """A fact in its field's type, or None when it cannot be: foreign logs call anything `lr`."""
    if name in WORDS:
        return str(value)[:200]
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(number):
        return None
    if name in COUNTS:
        return int(number) if abs(number) < MOST_WHOLE else None
    return number


def is_complete(
    raw: RawLog, built: Mapping[str, Series], setup: Setup, events: Sequence[Event]
) -> bool | None:
    """Whether the run reached its planned end; None when that is not known."""
    if raw.complete is not None:
        return raw.complete
    if any(e.kind in ENDINGS for e in events):
        return False
    planned = setup.planned_epochs if raw.axis_kind == "epoch" else setup.planned_steps
    last = max((float(s.steps[-1]) for s in built.values() if len(s)), default=None)
    return last >= 0.99 * planned - 1 if planned and last is not None else None
