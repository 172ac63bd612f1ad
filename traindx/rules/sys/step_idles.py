"""SYS009 step-idles."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="SYS009",
    needs=("time/idle", "time/step"),
    min_points=1,
    severity="medium",
    message="in {share:.0%} of a typical step nothing is computed, not counting the wait for data",
    follows=("host-waits-for-accelerator",),
)
def step_idles(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.3, "of the step", "convention", "the limit of step-waits-for-data"),
    much: float = threshold(0.5, "of the step", "convention", "more is lost than used"),
    brief: float = threshold(0.002, "s", "measured", "small nets on a CPU: Python between 100 operators"),
) -> Iterator[Evidence]:
    """Between the operators of a step nothing is computed for a large part of the time.

    ## What it sees
    In a trace, the idle share of a typical step: no kernel runs on the accelerator, or on a machine without
    one, no operator on the host. Time for loading data is not counted. Severity is low from 30 % on and medium
    from 50 % on. It stays low if the idle time is less than 2 ms.

    ## Why it matters
    That time is spent in Python, logging, files or the network. The run could be shorter by as much.

    ## When it is wrong
    The profiler makes every operator slightly slower, and the gaps between small ones longer. A process
    that trains in turns with others is idle on purpose.

    ## What to try
    Inspect the longest gaps and the code around them. Log and evaluate less often, compile the model, or
    use larger batches.

    ## Sources
    PyTorch, Performance tuning guide,
    https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html.
    """
    idle, step = features.needed_curve("time/idle"), features.needed_curve("time/step")
    data = features.curve("time/data")
    if idle.n == 0 or step.n == 0:
        raise api.CannotJudge("no finite time was traced")
    spent = idle.values
    # Without an accelerator, loading is no idle time.
    if data is not None and data.n and "util/device" in run.series:
        spent = np.maximum(spent - data.at_steps(idle.steps), 0.0)
    shares = np.clip(spent / np.maximum(step.at_steps(idle.steps), SHORTEST), 0.0, 1.0)
    share, seconds = float(median(shares)), float(median(spent))
    if share < some:
        return
    slight = share < much or seconds < brief
    yield Evidence(
        onset=idle.step_at(0),
        last=idle.step_at(idle.n - 1),
        strength=0.5 if slight else 1.0,
        severity="low" if slight else "medium",
        values={"share": share},
        points=(
            api.EvidencePoint(
                "time/idle", idle.step_at(idle.n - 1), seconds, some * float(median(step.values)), "s"
            ),
        ),
    )
