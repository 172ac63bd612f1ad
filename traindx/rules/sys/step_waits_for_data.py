"""SYS001 step-waits-for-data."""

from traindx.features.performance.level_shifts import shares, start_up
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    api,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="SYS001",
    needs=("time/data", "time/step"),
    min_points=1,
    severity="medium",
    message="a step typically spends {share:.0%} of its time waiting for data",
)
def step_waits_for_data(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.3, "of the step", "convention", "a loader that keeps up takes a few percent"),
    much: float = threshold(0.5, "of the step", "convention", "a loader that keeps up takes a few percent"),
    most: float = threshold(0.8, "of the step", "convention", "the accelerator idles four fifths"),
    brief: float = threshold(0.005, "s", "measured", "loops over arrays in memory wait this long"),
    start: float = threshold(0.05, "of the run", "convention", "loaders fill their queues first"),
) -> Iterator[Evidence]:
    """Each step waits for its data for a large part of its time.

    ## What it sees
    The time for data divided by the time of the step, for a typical row (median) after the start. Severity is
    low from 30 % on, medium from 50 % on and high from 80 % on. It stays low if the wait is less than 5 ms.

    ## Why it matters
    While a step waits, the accelerator does nothing, and the run takes longer by up to that share.

    ## When it is wrong
    The first rows are always slow, and a single slow row does not count. Where the logged step time
    excludes loading, the two are added.

    ## What to try
    Repeat one batch and compare the step time. Check the number of loader workers, the disk and the CPU
    load.

    ## Sources
    Mohan et al. (2021), Analyzing and mitigating data stalls in DNN training,
    https://arxiv.org/abs/2007.06775.
    """
    data, step = features.needed_curve("time/data"), features.needed_curve("time/step")
    if data.n == 0 or step.n == 0:
        raise api.CannotJudge("no finite time was logged")
    if data.n < step.n / 2:
        return  # most steps do not wait: a batch that was drawn once, or an occasional evaluation
    together = np.array_equal(data.steps, step.steps)
    waits = shares(data.values, step.values if together else step.at_steps(data.steps))
    skip = start_up(len(waits), start)
    share = float(median(waits[skip:]))
    if share < some:
        yield from stalls(data, step, waits, skip)
        return
    slight = float(median(data.values[skip:])) < brief or share < much
    severity: api.Severity = "low" if slight else "high" if share >= most else "medium"
    above = np.flatnonzero(waits >= some)
    yield Evidence(
        onset=data.step_at(int(above[0])),
        last=data.step_at(int(above[-1])),
        strength=1.0 if data.n > 3 and not slight else 0.5,
        aspects=("slight",) if slight else (),
        severity=severity,
        values={"share": share},
        points=(
            EvidencePoint(
                "time/data", data.step_at(data.n - 1), float(median(data.values[skip:])), None, "s"
            ),
            EvidencePoint("time/step", step.step_at(step.n - 1), float(median(step.values)), None, "s"),
        ),
    )


def stalls(
    data: Curve,
    step: Curve,
    waits: Floats,
    skip: int,
    *,
    most: float = threshold(0.5, "of the whole time", "convention", "half of the time is lost"),
    times: float = threshold(10, "x a typical step", "convention", "a step that stands still"),
    long: float = threshold(1.0, "s", "convention", "a stall that one notices"),
    few: float = threshold(30, "steps", "convention", "a longer log shows them as step-time-outliers"),
) -> Iterator[Evidence]:
    """A few steps of a short log wait so long that most of the whole time is spent on them."""
    taken = step.at_steps(data.steps)
    bar = max(long, times * float(median(taken[skip:])))
    rows = skip + np.flatnonzero((data.values[skip:] >= bar) & (waits[skip:] >= most))
    share = float(data.values[rows].sum() / max(taken[skip:].sum(), bar))
    if data.n >= few or len(rows) < 2 or share < most:
        return
    yield Evidence(
        onset=data.step_at(int(rows[0])),
        last=data.step_at(int(rows[-1])),
        strength=0.5,
        aspects=("stalls",),
        message=f"{len(rows)} of {data.n - skip} steps waited for data for {data.values[rows].min():.3g} to "
        f"{data.values[rows].max():.3g} s, {share:.0%} of the whole time",
        points=(
            EvidencePoint("time/data", data.step_at(int(rows[0])), float(data.values[rows[0]]), None, "s"),
        ),
    )
