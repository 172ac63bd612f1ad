"""SYS003 step-time-jumps."""

from traindx.features.performance.level_shifts import (
    Duration,
    Level,
    durations,
    is_stairs,
    levels,
    work_grows,
)
from traindx.rules.api import Evidence, Features, Iterator, Run, Severity, api, np, rule, threshold


@rule(
    code="SYS003",
    needs=("time/step|throughput",),
    min_points=8,
    severity="medium",
    message="from step {step:g} on, steps take {ratio:.1f} times as long as before",
)
def step_time_jumps(
    run: Run,
    features: Features,
    *,
    ratio: float = threshold(1.5, "x the level before", "measured", "a third of the throughput lost"),
    large: float = threshold(4.0, "x the level before", "convention", "as without the accelerator"),
    cut: float = threshold(0.2, "log ratio", "convention", "smaller levels are not distinguished"),
    clear: float = threshold(4.0, "x noise", "convention", "a ramp reaches 2.7"),
    margin: float = threshold(3, "rows", "convention", "fewer are outliers"),
    lasts: float = threshold(0.05, "of the run", "convention", "a shorter stretch is an episode"),
    brief: float = threshold(60.0, "s", "measured", "times of such short runs are too noisy"),
    back: float = threshold(1.25, "x the level before", "convention", "almost recovered"),
) -> Iterator[Evidence]:
    """The time of a step jumps to a higher level and stays there.

    ## What it sees
    The logarithm of the step time (or of the inverse throughput) is segmented into levels. One of them is at
    least 1.5 times the lowest level before it, and lasts. Severity is medium, high from four times on, and
    low if the time recovers. Training on the CPU of a machine without a usable accelerator is judged one
    degree milder, because other processes share its caches and memory.

    ## Why it matters
    Half the throughput is twice the cost. Usually something fell back: device, precision, cache, or
    another job on the machine.

    ## When it is wrong
    Single slow steps (evaluation, checkpoints, compilation) are removed first. A larger batch or longer
    sequences explain the jump where their signals are logged. After a resume it may be another machine.

    ## What to try
    Compare the parts of a step before and after, and check what else ran on the machine.

    ## Sources
    Killick et al. (2012), Optimal detection of changepoints, https://arxiv.org/abs/1101.1438.
    """
    duration = durations(features)
    if (n := len(duration.seconds)) < 2 * margin:
        raise api.CannotJudge("too few positive step times were logged")
    found = stairs(
        duration.seconds, levels(np.log(duration.seconds), least=cut, score=clear, margin=int(margin))
    )
    long = [a for a in found if a.stop - a.start >= max(margin, lasts * n)]
    for at, level in enumerate(long[1:], start=1):
        before = min(long[:at], key=lambda a: a.value)
        times = float(np.exp(level.value - before.value))
        first, last = float(duration.steps[level.start]), float(duration.steps[level.stop - 1])
        if times < ratio or work_grows(features, duration, float(duration.steps[before.start]), last, times):
            continue
        recovered = has_recovered(long[at + 1 :], before.value + float(np.log(back)))
        resumed = was_resumed(run, first)
        short, shared = is_brief(duration, brief), is_on_processor(run)
        marks = {"recovered": recovered, "after-resume": resumed, "brief": short, "processor": shared}
        severity = severity_of(features, recovered or resumed or short, shared, times >= large)
        yield jump_evidence(duration, before, level, severity, marks)
        return


def jump_evidence(
    duration: Duration, before: Level, level: Level, severity: Severity, marks: dict[str, bool]
) -> Evidence:
    """The evidence of a jump from the level `before`; its aspects are the `marks` that hold."""
    first = float(duration.steps[level.start])
    new, old = float(np.exp(level.value)), float(np.exp(before.value))
    return Evidence(
        onset=first,
        last=float(duration.steps[level.stop - 1]),
        strength=0.5 if severity in ("low", "info") else 1.0,
        severity=severity,
        aspects=tuple(mark for mark, holds in marks.items() if holds),
        values={"step": first, "ratio": float(np.exp(level.value - before.value))},
        points=(api.EvidencePoint(duration.signal, first, new, old, "s"),),
    )


def was_resumed(run: Run, step: float) -> bool:
    """Whether the run was resumed or restarted at `step` or before."""
    events = [e for e in run.events if e.kind in ("resume", "restart")]
    return any(e.step is not None and e.step <= step for e in events)


def severity_of(features: Features, mild: bool, shared: bool, far: bool) -> Severity:
    """The severity of a jump: `far` by its size, one degree milder on a CPU that is `shared`."""
    if features.is_reinforcement:
        return "info"  # episodes get longer
    if mild or (shared and not far):
        return "low"
    return "high" if far and not shared else "medium"


def stairs(seconds: api.Floats, found: list[Level]) -> list[Level]:
    """The levels; none, if they are parts of one ramp."""
    return found if is_stairs(seconds, found) else []


def is_on_processor(run: Run) -> bool:
    """Whether the training runs on the CPU of a machine without a usable accelerator."""
    return run.setup.word("device").startswith("cpu") and not run.setup.flag("accelerator_usable")


def is_brief(duration: Duration, seconds: float) -> bool:
    """Whether all of the logged steps took less than `seconds` together; only step times show this."""
    return (
        duration.signal == "time/step"
        and float(np.dot(duration.seconds[1:], np.diff(duration.steps))) < seconds
    )


def has_recovered(later: list[Level], bar: float) -> bool:
    """Whether the last of the `later` levels is at or below `bar`."""
    return bool(later) and later[-1].value <= bar
