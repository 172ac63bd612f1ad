"""SYS011 operators-are-tiny."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, np, rule, threshold


@rule(
    code="SYS011",
    needs=("operator_time/*", "operator_calls/*", "time/step", "time/idle"),
    min_points=1,
    severity="low",
    message="a step has {calls:.0f} calls that mostly take microseconds; starting them takes "
    "{share:.0%} of it",
)
def operators_are_tiny(
    run: Run,
    features: Features,
    *,
    small: float = threshold(1e-5, "s", "measured", "calls that cost only the call itself"),
    many: float = threshold(200, "calls a step", "convention", "fewer cost at most a millisecond"),
    some: float = threshold(0.5, "of the step", "convention", "more overhead than work"),
    long: float = threshold(0.005, "s", "convention", "a shorter step can gain little"),
) -> Iterator[Evidence]:
    """A step consists of very many operators that each do almost nothing.

    ## What it sees
    In a trace, half of a step goes to operators (on an accelerator, kernels) that take less than 10
    microseconds per call, and to the time between operators. The step must have at least 200 calls. Severity
    is info if a step takes less than 5 ms.

    ## Why it matters
    A call costs some microseconds whatever it computes. The device could do much more in that time.

    ## When it is wrong
    The profiler adds one or two microseconds to each call. Small models are like this by nature, which
    is harmless where they train in minutes.

    ## What to try
    Use larger batches, torch.compile, or one operation on a stacked tensor instead of a loop over parts.

    ## Sources
    He (2022), Making deep learning go brrrr from first principles, https://horace.io/brrr_intro.html.
    """
    kind = "kernel" if "kernel_time" in run.panels and "kernel_calls" in run.panels else "operator"
    traced = [run.panels[name].values for name in (f"{kind}_time", f"{kind}_calls") if name in run.panels]
    step, idle = features.needed_curve("time/step"), features.needed_curve("time/idle")
    if len(traced) < 2:
        raise CannotJudge("no operators were traced")
    times, calls = traced
    if times.shape != calls.shape or not times.size or step.n == 0 or idle.n == 0:
        raise CannotJudge("no operators were traced")
    spent, count = np.nanmean(times, axis=0), np.nanmean(calls, axis=0)
    tiny = (count > 0) & (spent < small * count)
    typical = max(float(api.median(step.values)), SHORTEST)
    share = min((float(spent[tiny].sum()) + float(api.median(idle.values))) / typical, 1.0)
    number = float(count.sum())
    if number < many or share < some or float(count[tiny].sum()) < number / 2:
        return
    yield Evidence(
        onset=step.step_at(0),
        last=step.step_at(step.n - 1),
        strength=0.5,
        severity="low" if typical >= long else "info",
        values={"calls": number, "share": share},
        points=(api.EvidencePoint(f"{kind}_calls", step.step_at(step.n - 1), number, many, "calls a step"),),
    )
