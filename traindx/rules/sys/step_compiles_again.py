"""SYS014 step-compiles-again."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="SYS014",
    needs=("calls/compile", "time/compile", "time/step"),
    min_points=1,
    severity="medium",
    message="functions are compiled again in {count} further steps, which takes {share:.0%} of the time since{why}",
)
def step_compiles_again(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "steps", "convention", "a last batch, an evaluation, a changed mode"),
    stretch: float = threshold(20, "steps", "convention", "the first steps compile what they are made of"),
    some: float = threshold(0.05, "of the time", "convention", "worth the trouble of looking"),
    much: float = threshold(0.3, "of the time", "convention", "as much as a loader may take: SYS001"),
) -> Iterator[Evidence]:
    """Functions are compiled, or traced, again and again.

    ## What it sees
    The steps after the first one that compiled in which a framework does so again (graphs of torch.compile,
    programs of JAX, traces of tf.function, as the framework counts them), what that takes of all the time
    since, and what dynamo says of the last one. What capture itself has compiled does not count, and nothing
    is said of fewer than 20 steps. Low from 5 %, medium from 30 %.

    ## Why it matters
    A compilation takes as long as hundreds of steps. It was meant to be paid once. After the eighth time
    torch.compile gives a function up.

    ## When it is wrong
    A curriculum of sequence lengths compiles once for each, and is done with it.

    ## What to try
    Pad batches to a few shapes (or drop the last, smaller one); give numbers that change as tensors, not as
    Python numbers; create functions and optimizers outside of the loop; `torch.compile(dynamic=True)`,
    `reduce_retracing=True` or an `input_signature`; `static_argnums` only for what takes few values.

    ## Sources
    PyTorch, "Dynamic shapes" and "Recompilation"; TensorFlow, "Controlling retracing"; JAX, "Just-in-time
    compilation", on caching.
    """
    calls, spent, step = map(features.needed_curve, ("calls/compile", "time/compile", "time/step"))
    if step.n < 2 or calls.n == 0 or spent.n == 0:
        raise CannotJudge("no finite time of steps and compilations was recorded")
    begin = float(calls.steps[0])
    again = calls.steps > begin
    if int(again.sum()) < least or not (step.steps > begin).any():
        return
    if int((step.steps > begin).sum()) < stretch:
        raise CannotJudge(
            "it compiles in the first steps, and too few came after them to tell whether it goes on"
        )
    compiling = float(spent.values[spent.steps > begin].sum())
    whole = float(step.values[step.steps > begin].sum())
    reason = str(run.setup.known("recompiled_for") or "")
    share = min(compiling / max(whole, compiling, SHORTEST), 1.0)
    if share < some:
        return
    yield Evidence(
        onset=float(calls.steps[again][0]),
        last=float(calls.steps[-1]),
        strength=1.0 if share >= much else 0.5,
        severity="medium" if share >= much else "low",
        values={"count": int(again.sum()), "share": share, "why": f"; last for: {reason}" if reason else ""},
        points=(EvidencePoint("time/compile", float(calls.steps[-1]), compiling, some * whole, "s"),),
    )
