"""SYS016 first-steps-take-time."""

from traindx.features.performance.level_shifts import durations
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
    code="SYS016",
    needs=("time/step",),
    min_points=8,
    severity="info",
    message="the first steps take {excess:.3g} s more than those after them, {share:.0%} of the run so far: paid once",
)
def first_steps_take_time(
    run: Run,
    features: Features,
    *,
    early: float = threshold(10, "steps", "convention", "what is compiled or tried out is by then"),
    slow: float = threshold(2.0, "x the typical step", "convention", "beyond noise: step-time-outliers"),
    some: float = threshold(0.1, "of the run", "convention", "a tenth of the time"),
    least: float = threshold(10.0, "s", "convention", "less is nobody's time"),
) -> Iterator[Evidence]:
    """Much of the time so far went into the first steps.

    ## What it sees
    The first step (recorded from its first forward pass on) and those of the nine after it that take twice
    as long as a typical one, by what they take more: a tenth of all the time so far, and ten seconds. Never
    a fault: it is paid once, and its share falls as the run goes on.

    ## Why it matters
    A short run or a search over many says little of how long a step takes; where each start pays it, caches
    of compiled code save it.

    ## When it is wrong
    Data that are read for the first time are slow in the first epoch, not in the first steps alone.

    ## What to try
    Leave the first steps out of measurements; keep compilation caches (`TORCHINDUCTOR_CACHE_DIR`,
    `jax_compilation_cache_dir`); `torch.backends.cudnn.benchmark` pays off only for shapes that stay.

    ## Sources
    PyTorch, torch.compile, "Compile-time caching"; JAX, "Persistent compilation cache".
    """
    found = durations(features)
    if found.signal != "time/step" or len(found.seconds) <= early:
        raise CannotJudge("the time of single steps was not recorded")
    seconds, first = found.seconds, run.setup.number("first_step_seconds")
    if first is not None:
        seconds = np.concatenate([[first], seconds])
    usual = float(median(seconds[int(early) :]))
    head = seconds[: int(early)]
    excess = float((head[head > slow * usual] - usual).sum())
    whole = usual * len(seconds) + excess
    if excess < least or excess < some * whole:
        return
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[min(int(early), len(found.steps)) - 1]),
        values={"excess": excess, "share": excess / whole},
        points=(EvidencePoint("time/step", float(found.steps[0]), float(head.max()), usual, "s"),),
    )
