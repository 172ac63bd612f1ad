"""Where one run of a log ends and the next begins.

Loggers append: a folder that is trained in twice, a second `fit`, a job that is queued again. Where the
step falls back, either another run begins or this one was resumed from a checkpoint.

Several processes may write into one log: a column says whose each record is."""

import msgspec
import numpy as np

from traindx.features.statistics import median
from traindx.readers.assembly.step_axis import back_jumps, densest, is_shuffled
from traindx.readers.names.aliases import role_of
from traindx.readers.raw import RawColumn, RawLog
from traindx.vocabulary import Event, Floats, Ints, format_step

MOST_RUNS = 64  # of one log, the last ones: nobody reads a hundred diagnoses of one file
MOST_RESUMES = 100  # reported one by one
NEAR = 5  # logging intervals from the first step at which a run may begin anew
FAR = 0.6  # of the way back to the first step
FIRST, LEVEL = 3, 5  # points at a beginning, and elsewhere, whose median is a level
LONGER = 20  # times as many points as a start that was given up has a later run
SETTLED = 20  # points that a run without a counter had before it may begin again
BACK, HALF = 0.75, 0.5  # of the way down, back up at once and then fallen again
ALIKE = 4  # times as many points or as few until half of the way is fallen again
MOST_JUMPS = 1000  # jumps up, beyond which they are the noise
CONTINUES, TOO_FAR = 0.75, 3.0  # of the way that a run came, between which another goes on from it


class Cut(msgspec.Struct, frozen=True):
    """Rows `first <= row < last` of a log are one run; `events` say how it began."""

    first: int
    last: int
    events: tuple[Event, ...]


class Levels(msgspec.Struct, frozen=True):
    """Losses around a place where the step falls back: where the run began, where it was at the step it
    falls back to, where it ended, where it goes on; and how much neighbours differ."""

    start: float
    here: float
    end: float
    now: float
    noise: float


def back_at_start(counter: RawColumn | None) -> list[int]:
    """Rows at which a counter falls back to its first value, or below it."""
    if counter is None:
        return []
    values = counter.values
    back = (values[1:] < values[:-1]) & (values[1:] <= values[0])
    return [int(row) for row in counter.rows[1:][back]]


def find_cuts(raw: RawLog, loss: RawColumn | None) -> list[Cut]:
    """The runs of a log. `loss` is its training loss, which shows whether a run goes on; columns have
    steps."""
    every = [c.rows for c in raw.columns.values()] + [p.rows for p in raw.panels.values()]
    last = 1 + max((int(rows[-1]) for rows in every if len(rows)), default=0)
    reference = densest(raw, raw.axis)
    if reference is None or reference.steps is None or not len(reference.rows):
        return [Cut(0, last, ())]
    steps, rows = reference.steps, reference.rows
    if is_shuffled(steps):
        return [Cut(0, last, (Event("parse-warning", "the steps are out of order; they were sorted"),))]
    jumps = without_repeated_rows(reference, [int(j) for j in back_jumps(steps)])
    declared = set(np.searchsorted(rows, raw.boundaries).tolist())
    cuts: list[Cut] = []
    pending: list[Event] = []
    late = jumps[-4 * MOST_RUNS :][:1]  # of runs that began before, which are left out, nothing is reported
    # begin, begun: index and row where the run began; before: index where its last stretch did
    resumed, begin, begun, before = 0, 0, 0, 0
    for jump, nxt in zip(jumps, [*jumps, len(steps)][1:], strict=True):
        place, step = f"row {int(rows[jump]) + 1}", float(steps[jump])
        back = is_back(steps[begin], steps[before:jump], step)
        levels = (
            levels_at(loss, rows, before, jump, nxt)
            if loss is not None and (not back or [jump] >= late)
            else None
        )
        if back or is_new_run(steps[begin], float(steps[jump - 1]), step, levels, declared=jump in declared):
            first = first_row(raw, int(rows[jump - 1]), int(rows[jump]), step)
            cuts.append(Cut(begun, first, tuple(pending)))
            begin, begun = jump, first
            pending = [Event("restart", "a new run begins in the same log", step, place)]
            if levels is not None and continues(levels):
                message = (
                    "its loss starts where the previous run ended: the same weights with a new step count"
                )
                pending.append(Event("resume", message, step, place, "late-start"))
        elif resumed < MOST_RESUMES:
            message = f"goes back from step {format_step(steps[jump - 1])} to {format_step(step)}: resumed from a checkpoint"
            pending.append(Event("resume", message, step, place))
            resumed += 1
        before = jump
    return last_cuts(without_false_starts([*cuts, Cut(begun, last, tuple(pending))], rows))


def without_repeated_rows(column: RawColumn, jumps: list[int]) -> list[int]:
    """The places of falls without those of single rows that are printed again (`Best iteration: [25] auc:0.81`)."""
    assert column.steps is not None
    ends, kept = {*jumps, len(column.steps)}, []
    for jump in jumps:
        same = column.values[:jump][column.steps[:jump] == column.steps[jump]]
        if jump + 1 not in ends or column.values[jump] not in same:
            kept.append(jump)
    return kept


def find_cuts_by_level(loss: RawColumn, last: int) -> list[Cut]:
    """The runs of a log of `last` rows without a counter: where the loss is back at its first level at once, and
    falls again as slowly as it did, another run was appended. A spike comes back sooner; what diverged does not."""
    values = loss.values
    found: list[int] = []
    begin = 0
    with np.errstate(invalid="ignore", over="ignore"):
        way = abs(float(values[0]) - float(median(values[-len(values) // 3 :])))
        jumps: list[int] = (1 + np.flatnonzero(np.diff(values) > HALF**2 * way)).tolist()
    for jump in jumps if len(jumps) <= MOST_JUMPS else ():
        if jump - begin >= SETTLED and begins_again(values[begin:jump], values[jump:]):
            found.append(jump)
            begin = jump
    edges = [0, *(int(loss.rows[jump]) for jump in found), last]
    events = [
        (),
        *(
            (
                Event(
                    "restart",
                    "the loss is back where it began: another run",
                    step=float(row),
                    place=f"row {row + 1}",
                ),
            )
            for row in edges[1:-1]
        ),
    ]
    cuts = [Cut(a, b, why) for a, b, why in zip(edges, edges[1:], events, strict=False)]
    return last_cuts(without_false_starts(cuts, loss.rows))


def begins_again(before: Floats, after: Floats) -> bool:
    """Whether `after` begins and falls like `before`, which fell."""
    start, end = float(median(before[:FIRST])), float(median(before[-LEVEL:]))
    way, now = start - end, float(median(after[:FIRST]))
    noise = float(median(np.abs(np.diff(before[len(before) // 2 :]))))
    if len(after) < LEVEL or not way > 4 * noise or not BACK * way < now - end < (2 - BACK) * way:
        return False
    if not float(median(after[-LEVEL:])) < now - HALF * way:
        return False
    waits = [
        int(np.argmax(part < part_start - HALF * way))
        for part, part_start in ((before, start), (after, now))
    ]
    return waits[0] >= LEVEL and waits[0] / ALIKE <= waits[1] <= waits[0] * ALIKE


def first_row(raw: RawLog, before: int, at: int, step: float) -> int:
    """Where the run begins whose first value of the densest column is in row `at`, at `step`: event files hold a
    row for each value, and other names may come first. `before` is the last row of that column before it."""
    first = at
    for column in raw.columns.values():
        assert column.steps is not None
        low, high = np.searchsorted(column.rows, [before + 1, at])
        early = column.rows[low:high][column.steps[low:high] <= step]
        first = min(first, int(early[0])) if len(early) else first
    return first


def is_new_run(start: float, peak: float, now: float, levels: Levels | None, *, declared: bool) -> bool:
    """Whether a fall of the counter from `peak` to `now` begins another run rather than resumes this one,
    which began at `start`, where it is not back at its start.

    A run whose loss is where it was at this step, or where it ended, was resumed. Else a fall over most of
    the way is a new run, and so is one that the format itself declares; after a short fall a loss as of a
    new run is a resume that lost its weights."""
    if levels is not None and abs(levels.here - levels.start) > 4 * levels.noise:
        half = 0.5 * abs(levels.here - levels.start)
        if min(abs(levels.now - levels.here), abs(levels.now - levels.end)) < half:
            return False
    return declared or (peak - now) > FAR * (peak - start)


def is_back(start: float, previous: Floats, now: float) -> bool:
    """Whether a counter that came from `start` over `previous[n]` is back there: another run begins."""
    gap = float(median(np.diff(previous))) if len(previous) > 1 else 1.0
    return bool(now <= start + max(1.5 * gap, min(NEAR * gap, 0.05 * (float(previous[-1]) - start))))


def continues(levels: Levels) -> bool:
    """Whether a run that counts from the start has the loss with which the run before it ended."""
    way = levels.start - levels.end
    return abs(way) > 4 * levels.noise and CONTINUES < (levels.start - levels.now) / way < TOO_FAR


def levels_at(loss: RawColumn, rows: Ints, before: int, jump: int, nxt: int) -> Levels | None:
    """Levels around the fall at index `jump` of `rows`; the stretch before it begins at `before`, the one
    behind it ends at `nxt`. None where too few losses are numbers."""
    assert loss.steps is not None
    at, middle, end = np.searchsorted(loss.rows, [rows[before], rows[jump], rows[nxt - 1] + 1])
    first, second = loss.values[at:middle], loss.values[middle:end][:FIRST]
    if len(first) < LEVEL or not len(second) or not np.isfinite(second).all():
        return None
    place = int(np.searchsorted(loss.steps[at:middle], loss.steps[middle]))
    parts = first[:FIRST], first[max(0, place - LEVEL // 2) : place + LEVEL // 2 + 1], first[-LEVEL:], second
    if any(not len(part) or not np.isfinite(part).all() for part in parts):
        return None
    tail = first[len(first) // 2 :]
    bends = np.abs(
        np.diff(tail[np.isfinite(tail)], n=2)
    )  # of a curve without noise they are next to nothing
    noise = float(median(bends)) if len(bends) else 0.0
    start, here, end, now = (float(median(part)) for part in parts)
    return Levels(start, here, end, now, noise)


def without_false_starts(cuts: list[Cut], rows: Ints) -> list[Cut]:
    """The cuts without starts that were given up before a much longer run in the same log: they have no verdict
    of their own. The run after them says that they are left out."""
    sizes = [int(np.searchsorted(rows, cut.last) - np.searchsorted(rows, cut.first)) for cut in cuts]
    kept: list[Cut] = []
    left: list[int] = []
    for index, (cut, size) in enumerate(zip(cuts, sizes, strict=True)):
        if max(sizes[index + 1 :], default=0) >= LONGER * size:
            left.append(size)
            continue
        if left:
            message = (
                f"{len(left)} earlier start{'s' * (len(left) > 1)} of at most {max(left)} points left out"
            )
            cut = msgspec.structs.replace(cut, events=(*cut.events, Event("parse-warning", message)))
            left = []
        kept.append(cut)
    return kept


def last_cuts(cuts: list[Cut]) -> list[Cut]:
    """The last `MOST_RUNS`, of which the first says how many are left out."""
    left = len(cuts) - MOST_RUNS
    if left <= 0:
        return cuts
    first = cuts[left]
    note = Event(
        "parse-warning", f"{left} earlier runs in the same log are left out", place=f"row {first.first + 1}"
    )
    return [msgspec.structs.replace(first, events=(*first.events, note)), *cuts[left + 1 :]]


NAMES = frozenset({"rank", "global_rank", "process_rank", "process_index", "world_rank"})
MOST = 4096  # processes
NOBODY = -1


def part_by_rank(raw: RawLog) -> None:
    """Where a column `rank` says of which process a record is, and several report the same steps: the first
    one's columns keep their names, those of the others are put under `rank/<i>/`. Columns have their
    steps."""
    name = rank_column(raw)
    if name is None or not holds_ranks(raw.columns[name], raw.columns[name].steps):
        return
    owner = raw.columns.pop(name)
    values = owner.values.astype(np.int64)
    first = int(values.min())
    raw.facts.setdefault("ranks_reporting", len(np.unique(values)))
    for name in [n for n in raw.columns if n != raw.axis and not n.startswith("rank/")]:
        column = raw.columns[name]
        whose = row_ranks(column, owner, values)
        for rank in np.unique(whose[whose > first]).tolist():
            signal = raw.roles.get(name) or role_of(name).signal or name
            raw.columns[f"rank/{rank}/{name}"] = select_rows(column, whose == rank)
            raw.roles[f"rank/{rank}/{name}"] = f"rank/{rank}/{signal}"
        if (whose > first).any():
            raw.columns[name] = select_rows(column, whose <= first)


def rank_column(raw: RawLog) -> str | None:
    """The column that may say whose a record is."""
    return next((name for name in raw.columns if name.lower() in NAMES), None)


def holds_ranks(column: RawColumn, steps: Floats | None) -> bool:
    """Whether numbers are places among processes: whole, at least two of them, and at most steps several in
    turn, each once (a metric of that name has one value a step)."""
    values = column.values
    if steps is None or len(values) < 4 or not np.isfinite(values).all():
        return False
    if (values < 0).any() or (values >= MOST).any() or (values % 1).any() or np.ptp(values) == 0:
        return False
    pairs, times = np.unique(np.stack([steps, values]), axis=1, return_counts=True)
    _, each = np.unique(pairs[0], return_counts=True)
    return bool(np.mean(each > 1) > 0.5 and np.mean(times == 1) > 0.5)


def row_ranks(column: RawColumn, owner: RawColumn, ranks: Ints) -> Ints:
    """The rank that each row of a column is of; NOBODY where the record does not say."""
    at = np.minimum(np.searchsorted(owner.rows, column.rows), len(ranks) - 1)
    return np.where(owner.rows[at] == column.rows, ranks[at], NOBODY)


def select_rows(column: RawColumn, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> RawColumn:
    steps = None if column.steps is None else column.steps[rows]
    times = None if column.times is None else column.times[rows]
    return RawColumn(column.values[rows], column.rows[rows], steps, times)
