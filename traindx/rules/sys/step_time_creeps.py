"""SYS002 step-time-creeps."""

from traindx.features.performance.level_shifts import (
    Duration,
    Growth,
    durations,
    floors,
    growth,
    is_stairs,
    levels,
    start_up,
    work_grows,
)
from traindx.features.statistics.trends import rank_correlation
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    api,
    np,
    rule,
    threshold,
)

LONGER = 0.25  # strength for agents: longer episodes are no fault


@rule(
    code="SYS002",
    needs=("time/step|throughput",),
    min_points=3,
    severity="medium",
    message="steps get slower: {ratio:.2f} times as long at the end as at the start",
    follows=("memory-grows",),
)
def step_time_creeps(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(1.2, "x the first level", "measured", "a fifth slower"),
    steady: float = threshold(0.9, "rank correlation", "convention", "of block medians with time"),
    late: float = threshold(0.15, "of the growth", "theory", "1/3 for a line; a start-up saturates"),
    significant: float = threshold(5.0, "x standard error", "convention", "slope against its own noise"),
    start: float = threshold(0.05, "of the run", "convention", "compilation and warm caches"),
    step: float = threshold(0.15, "log ratio", "convention", "a sudden change of this size is a jump"),
    clear: float = threshold(4.0, "x noise", "convention", "two distinct levels"),
    few: float = threshold(20, "points", "convention", "with fewer points, only a doubling counts"),
    times: float = threshold(2.0, "x the first half", "measured", "more than noise"),
) -> Iterator[Evidence]:
    """The time of a step grows steadily during the run.

    ## What it sees
    The lower envelope of the step time (or of the inverse throughput) rises almost without setback, by a
    fifth or more, and keeps rising in the last third. If it rises to four times or more, some setbacks are
    allowed. Other work on the machine can only raise this envelope. In a short log, every time of the second
    half must be twice that of the first. If the times rise throughout, those of the last third must be twice
    those of the first. With three times, each must be longer than the one before, and the last twice the
    first. Five or more times that never fall and end 5 % longer are a note.

    ## Why it matters
    Something accumulates from step to step: a list, a graph, fragmented memory, heat.

    ## When it is wrong
    Larger batches and longer sequences take longer (their signals are used where logged). A running average
    since the start rises while it forgets a fast beginning, but levels off. The episodes of an agent that
    learns get longer, so severity is info if rewards are logged. A sudden change is step-time-jumps.

    ## What to try
    Measure the parts of a step, count live tensors, and check whether memory grows as well.

    ## Sources
    PyTorch profiler recipe, https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html.
    """
    duration = durations(features)
    if len(duration.seconds) < few:
        yield from doubled_evidence(features, duration, times, steady)
        return
    skip = start_up(len(duration.seconds), start)
    steps, seconds = duration.steps[skip:], duration.seconds[skip:]
    if len(seconds) < 3:
        raise api.CannotJudge("no positive step time was logged")
    seen = growth(seconds, floor=True)
    if seen.ratio < ratio or seen.late < late or not is_clear(seconds, seen, steady, significant):
        return
    if is_stairs(seconds, levels(np.log(seconds), least=step, score=clear, margin=3)):
        return
    if work_grows(features, duration, float(steps[0]), float(steps[-1]), seen.ratio):
        return
    yield Evidence(
        onset=float(steps[0]),
        last=float(steps[-1]),
        strength=LONGER if features.is_reinforcement else 1.0 if seen.ratio >= 2 else 0.5,
        severity="info" if features.is_reinforcement else None,  # episodes get longer as an agent learns
        aspects=part_of_step(features.curve("time/data"), seen.last - seen.first),
        values={"ratio": seen.ratio},
        points=(EvidencePoint(duration.signal, float(steps[-1]), seen.last, seen.first, "s"),),
    )


def is_clear(
    seconds: Floats,
    seen: Growth,
    steady: float,
    significant: float,
    *,
    far: float = threshold(4.0, "x the first level", "convention", "hardly anything else explains it"),
    uphill: float = threshold(0.8, "rank correlation", "measured", "if far: most of it may come early"),
    apart: float = threshold(3.0, "x standard error", "convention", "if far"),
) -> bool:
    """Whether the times rise beyond their scatter; if they rise `far`, with some setbacks."""
    if seen.ratio >= far:
        steady, significant = uphill, apart
    return seen.correlation >= steady and bool(api.slope(floors(seconds)).z >= significant)


def part_of_step(data: Curve | None, grown: float) -> tuple[str, ...]:
    """The part of a step that got slower, as an aspect: none where the time for data was not logged."""
    if data is None:
        return ()
    return ("data",) if is_data(data, grown) else ("compute",)


def is_data(data: Curve, grown: float) -> bool:
    """Whether waiting for data makes up half of what the step time has `grown` (seconds) or more."""
    if data.n < 3:
        return False
    seen = growth(data.values)
    return seen.last - seen.first >= 0.5 * grown


def doubled_evidence(
    features: Features, duration: Duration, times: float, steady: float
) -> Iterator[Evidence]:
    """In a short log, every step of the second half takes `times` as long as any of the first. Or almost
    every step takes longer than the one before, and the last third `times` as long as the first."""
    seconds, half = duration.seconds, len(duration.seconds) // 2
    if len(seconds) < 3:
        return
    third = max(1, len(seconds) // 3)
    first, last = float(api.median(seconds[:third])), float(api.median(seconds[-third:]))
    apart = half > 1 and float(seconds[half:].min()) >= times * float(seconds[:half].max())
    apart = apart or (half == 1 and seconds[0] < seconds[1] < seconds[2] and last >= times * first)
    ordered = always_longer(seconds, last / first)
    ordered_well = half >= 4 and rank_correlation(duration.steps, seconds) >= steady
    steadily = last >= times * first and (ordered or ordered_well)
    slightly = ordered and not (apart or steadily)
    if not (apart or steadily or slightly):
        return
    yield Evidence(
        onset=float(duration.steps[half]),
        last=float(duration.steps[-1]),
        strength=LONGER if features.is_reinforcement or slightly else 0.5,
        severity="info" if features.is_reinforcement or slightly else None,
        aspects=("short",),
        values={"ratio": last / first},
        points=(EvidencePoint(duration.signal, float(duration.steps[-1]), last, first, "s"),),
    )


def always_longer(
    seconds: Floats,
    ratio: float,
    *,
    least: float = threshold(5, "points", "theory", "five in order: 1 in 120"),
    seen: float = threshold(1.05, "x the first", "measured", "a straggler of 1,000 accelerators costs 6 %"),
) -> bool:
    """Whether no step was shorter than the one before it, and the last ones took `ratio` times as long."""
    return bool(len(seconds) >= least and ratio >= seen and np.diff(seconds).min() >= 0)
