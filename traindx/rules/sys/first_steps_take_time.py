"""SYS016 first-steps-take-time."""

from traindx.features.performance.level_shifts import durations
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="SYS016",
    needs=("time/step",),
    min_points=8,
    severity="info",
    message="the first steps took {excess:.3g} s more than later ones, {share:.0%} of the run so "
    "far; this happens once",
)
def first_steps_take_time(
    run: Run,
    features: Features,
    *,
    early: float = threshold(10, "steps", "convention", "compilation and autotuning end by then"),
    slow: float = threshold(
        2.0, "x the typical step", "convention", "more than noise; see step-time-outliers"
    ),
    some: float = threshold(0.1, "of the run", "convention", "a tenth of the time"),
    least: float = threshold(10.0, "s", "convention", "less is negligible"),
) -> Iterator[Evidence]:
    """Much of the time so far went into the first steps.

    ## What it sees
    The first step, counted from its first forward pass, and slow steps among the next nine take extra time. A
    step is slow if it takes twice as long as a typical one. The extra time must be a tenth of all the time so
    far, and ten seconds.
    This is no fault: it happens once, and its share falls as the run continues.

    ## Why it matters
    A short run, or a search over many, then shows little about the time of a step. Where each start pays
    this time, caches of compiled code save it.

    ## When it is wrong
    Data that are read for the first time slow down the whole first epoch, not only the first steps.

    ## What to try
    Exclude the first steps from measurements. Keep compilation caches (`TORCHINDUCTOR_CACHE_DIR`,
    `jax_compilation_cache_dir`). `torch.backends.cudnn.benchmark` pays off only for constant shapes.

    ## Sources
    PyTorch, Compile-time caching,
    https://docs.pytorch.org/tutorials/recipes/torch_compile_caching_tutorial.html; JAX, Persistent
    compilation cache, https://docs.jax.dev/en/latest/persistent_compilation_cache.html.
    """
    found = durations(features)
    if found.signal != "time/step" or len(found.seconds) <= early:
        raise CannotJudge("the time of single steps was not recorded")
    seconds, first = found.seconds, run.setup.number("first_step_seconds")
    if first is not None:
        seconds = np.concatenate([[first], seconds])
    usual = float(api.median(seconds[int(early) :]))
    head = seconds[: int(early)]
    excess = float((head[head > slow * usual] - usual).sum())
    whole = usual * len(seconds) + excess
    if excess < least or excess < some * whole:
        return
    yield Evidence(
        onset=float(found.steps[0]),
        last=float(found.steps[min(int(early), len(found.steps)) - 1]),
        values={"excess": excess, "share": excess / whole},
        points=(api.EvidencePoint("time/step", None, float(head.max()), usual, "s"),),
    )
