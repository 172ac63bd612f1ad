"""SYS004 step-time-outliers."""

from traindx.features.performance.level_shifts import durations, is_near, isolated_slow, periodic, start_up
from traindx.rules.api import Evidence, Features, Floats, Iterator, Run, api, np, rule, threshold


@rule(
    code="SYS004",
    needs=("time/step",),
    min_points=30,
    severity="low",
    message="{count} single steps took {factor:.0f} times as long as those around them, {share:.0%} "
    "of the whole time",
)
def step_time_outliers(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(3.0, "x the level around", "convention", "far outside usual jitter"),
    share: float = threshold(0.1, "of the time", "convention", "enough to be worth fixing"),
    least: float = threshold(4, "steps", "convention", "fewer may be chance"),
    longest: float = threshold(2, "rows in a row", "convention", "longer is a level"),
    start: float = threshold(0.05, "of the run", "convention", "compilation and warm caches"),
    regular: float = threshold(0.1, "of the period", "convention", "jitter of a regular interval"),
) -> Iterator[Evidence]:
    """Single steps take far longer than their neighbors, and add up.

    ## What it sees
    Steps above three times the level around them, at most two in a row, which together take a tenth of the
    time or more. Steps next to a validation are excluded. Severity is info if they come at regular intervals.

    ## Why it matters
    This time is lost for training. A stall often comes from the loader, the disk or another job.

    ## When it is wrong
    Many logs count an evaluation, a checkpoint or the compilation as part of a step. Those come at
    regular intervals (of epochs), or at the start.

    ## What to try
    Check what happens at these steps, starting with the loader and the file system.

    ## Sources
    Mohan et al. (2021), Analyzing and mitigating data stalls in DNN training,
    https://arxiv.org/abs/2007.06775.
    """
    duration = durations(features)
    if len(duration.seconds) < 3:
        raise api.CannotJudge("no positive step time was logged")
    steps = duration.steps
    validated = is_near(steps, validation_steps(run))
    kept = ~(validated & (validated.mean() < 0.5))
    steps, seconds = steps[kept], duration.seconds[kept]
    slow = isolated_slow(seconds, factor=factor, longest=int(longest), skip=start_up(len(seconds), start))
    if len(slow.rows) < least or slow.excess < share:
        return
    rhythm = periodic(slow.rows, tolerance=regular) or begin_epochs(features, steps, slow.rows)
    worst = int(slow.rows[np.argmax((seconds / slow.base)[slow.rows])])
    yield Evidence(
        onset=float(steps[slow.rows[0]]),
        last=float(steps[slow.rows[-1]]),
        strength=0.5 if rhythm else 1.0,
        severity="info" if rhythm else "low",
        aspects=("periodic",) if rhythm else ("irregular",),
        values={
            "count": len(slow.rows),
            "factor": float(api.median((seconds / slow.base)[slow.rows])),
            "share": slow.excess,
        },
        points=(
            api.EvidencePoint(
                "time/step", float(steps[worst]), float(seconds[worst]), float(slow.base[worst]), "s"
            ),
        ),
    )


def begin_epochs(
    features: Features,
    steps: Floats,
    rows: api.Ints,
    *,
    most: float = threshold(0.8, "of the slow steps", "convention", "the others may be chance"),
) -> bool:
    """Whether the slow rows are the first ones of their epochs, where workers start and caches fill."""
    epoch = features.curve("epoch")
    if epoch is None or epoch.n < 2 or not rows.all():
        return False
    at = np.floor(epoch.at_steps(steps))
    return bool(np.mean(at[rows] > at[rows - 1]) >= most)


def validation_steps(run: Run) -> Floats:
    """All steps at which something was measured on validation data."""
    held = [s.steps for name, s in run.series.items() if name.startswith("val/")]
    return np.unique(np.concatenate(held)) if held else np.empty(0)
