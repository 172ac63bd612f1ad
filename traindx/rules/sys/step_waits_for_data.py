"""SYS001 step-waits-for-data."""

from traindx.features.performance.level_shifts import shares, start_up
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
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
    some: float = threshold(0.3, "of the step", "seed", "differential.md: 30-50 % of a step"),
    much: float = threshold(0.5, "of the step", "seed", "differential.md: 30-50 % of a step"),
    most: float = threshold(0.8, "of the step", "convention", "the accelerator idles four fifths"),
    brief: float = threshold(0.005, "s", "measured", "gym: loops over arrays, nothing to be gained"),
    start: float = threshold(0.05, "of the run", "convention", "loaders fill their queues first"),
) -> Iterator[Evidence]:
    """Each step waits for its data for a notable part of its time.

    ## What it sees
    The time for data over the time of the step, typical row (median), after the start. Low from 30 %, medium
    from 50 %, high from 80 %; low when it waits less than 5 ms.

    ## Why it matters
    While it waits, the accelerator does nothing; the run takes up to that much longer than it would have to.

    ## When it is wrong
    The first rows are always slow, and a single slow row is not counted. Where the logged step time leaves
    the loading out, the two are added.

    ## What to try
    Repeat one batch and compare the step time; count the workers of the loader, look at the disk and at the
    processors.

    ## Sources
    Mohan et al. (2021), Analyzing and mitigating data stalls in DNN training.
    """
    data, step = features.needed_curve("time/data"), features.needed_curve("time/step")
    if data.n == 0 or step.n == 0:
        raise CannotJudge("no finite time was logged")
    if data.n < step.n / 2:
        return  # most steps waited for nothing: a batch that was drawn once, an evaluation now and then
    together = np.array_equal(data.steps, step.steps)
    waits = shares(data.values, step.values if together else step.at_steps(data.steps))
    skip = start_up(len(waits), start, 1)
    share = float(median(waits[skip:]))
    if share < some:
        return
    slight = float(median(data.values[skip:])) < brief or share < much
    severity: Severity = "low" if slight else "high" if share >= most else "medium"
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
