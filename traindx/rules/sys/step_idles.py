"""SYS009 step-idles."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="SYS009",
    needs=("time/idle", "time/step"),
    min_points=1,
    severity="medium",
    message="{share:.0%} of a typical step passes without any computation, beyond what it waits for data",
    follows=("host-waits-for-accelerator",),
)
def step_idles(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.3, "of the step", "convention", "as much as a loader may take: SYS001"),
    much: float = threshold(0.5, "of the step", "convention", "more is lost than used"),
    brief: float = threshold(0.002, "s", "measured", "small nets on a CPU: Python between 100 operators"),
) -> Iterator[Evidence]:
    """Between the operators of a step there is time in which nothing is computed.

    ## What it sees
    In a trace, the time of a typical step in which no kernel runs on the accelerator (without one, no
    operator on the host), without the time that goes to loading data. Low from 30 %, medium from 50 %; low
    where that is below 2 ms.

    ## Why it matters
    That time is Python, logging, files or the network; the run could take so much less.

    ## When it is wrong
    The profiler itself makes every operator a little slower, and the time between small ones longer. A
    process that trains in turns with others idles on purpose.

    ## What to try
    Look at the longest gaps and what stands beside them; log and evaluate less often; compile the model;
    larger batches.

    ## Sources
    PyTorch, Performance tuning guide; the definition of idle time in the profiler's own overview.
    """
    idle, step, data = (
        features.needed_curve("time/idle"),
        features.needed_curve("time/step"),
        features.curve("time/data"),
    )
    if idle.n == 0 or step.n == 0:
        raise CannotJudge("no finite time was traced")
    spent = idle.values
    if (
        data is not None and data.n and "util/device" in run.series
    ):  # without an accelerator loading is no idle time
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
            EvidencePoint(
                "time/idle", idle.step_at(idle.n - 1), seconds, some * float(median(step.values)), "s"
            ),
        ),
    )
