"""SYS014 step-compiles-again."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="SYS014",
    needs=("calls/compile", "time/compile", "time/step"),
    min_points=1,
    severity="medium",
    message="functions are compiled again in {count} later steps, which takes {share:.0%} of the "
    "time since{why}",
)
def step_compiles_again(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "steps", "convention", "a last batch, an evaluation, a changed mode"),
    stretch: float = threshold(20, "steps", "convention", "the first steps compile everything once"),
    some: float = threshold(0.05, "of the time", "convention", "enough to be worth fixing"),
    much: float = threshold(0.3, "of the time", "convention", "the limit of step-waits-for-data"),
) -> Iterator[Evidence]:
    """Functions are compiled, or traced, again and again.

    ## What it sees
    The steps in which a framework compiles again after its first compilation: graphs of torch.compile,
    programs of JAX, traces of tf.function, as the framework counts them. The finding gives their share of the
    time since then, and dynamo's reason for the last one. Functions that traindx itself compiled do not
    count, and fewer than 20 steps are not judged. Severity is low from 5 % on and medium from 30 % on.

    ## Why it matters
    A compilation takes as long as hundreds of steps and should happen once. After the eighth time
    torch.compile gives up on a function.

    ## When it is wrong
    A curriculum of sequence lengths compiles once for each length.

    ## What to try
    Pad batches to a few shapes (or drop the last, smaller one). Pass changing numbers as tensors, not as
    Python numbers. Create functions and optimizers outside of the loop. Use
    `torch.compile(dynamic=True)`, `reduce_retracing=True` or an `input_signature`, and `static_argnums`
    only for arguments with few values.

    ## Sources
    PyTorch, torch.compile troubleshooting,
    https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html; TensorFlow, Better
    performance with tf.function, https://www.tensorflow.org/guide/function; JAX, Just-in-time
    compilation, https://docs.jax.dev/en/latest/jit-compilation.html.
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
            "compiled in the first steps, and too few steps follow to show whether it continues"
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
