"""LRS005 batch-size-jumps."""

from traindx.features.curves.schedule import describe_loss_since
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LRS005",
    needs=("batch_size",),
    min_points=5,
    severity="info",
    message="the batch size went from {before:g} to {after:g} at step {at:g}{rate}",
)
def batch_size_jumps(
    run: Run,
    features: Features,
    *,
    factor: float = threshold(1.5, "x", "theory", "changes the best rate by 1.2 (root) to 1.5 (linear)"),
    many: float = threshold(3, "changes", "convention", "more are a schedule, or remainders of epochs"),
    same: float = threshold(0.1, "of the rate", "convention", "a rate that was not adapted"),
    points: float = threshold(4, "points", "convention", "before and after, for two levels"),
) -> Iterator[Evidence]:
    """The batch size changes in the middle of the run.

    ## What it sees
    One to three changes of the logged batch size by a factor of 1.5 or more. Shorter batches at the end of
    each epoch, and sizes that grow in many small stages, are not reported. Severity is info, and low if the
    objective gets worse after the change.

    ## Why it matters
    The batch size decides how large the noise of a step is, and with it which learning rate fits. After a
    change the old rate is too high for a smaller batch, and too low for a larger one. Curves over steps also
    change their slope, because a step sees another number of samples.

    ## When it is wrong
    A batch size that was increased on purpose instead of lowering the rate.

    ## What to try
    Multiply the learning rate by the same factor (SGD) or by its root (Adam), or keep the batch size.

    ## Sources
    Smith et al. (2018), Don't decay the learning rate, increase the batch size, arXiv:1711.00489. Malladi et
    al. (2022), On the SDEs and scaling rules for adaptive gradient algorithms, arXiv:2205.10287.
    """
    curve = features.needed_curve("batch_size")
    sizes = np.maximum(curve.values, 1.0)
    changes = np.flatnonzero(np.diff(sizes))
    if not 0 < len(changes) <= many:
        return
    at = int(changes[np.argmax(np.abs(np.diff(np.log(sizes)))[changes])]) + 1
    lasts = at >= points and curve.n - at >= points and np.ptp(sizes[at : at + int(points)]) == 0
    if not lasts or abs(np.log(sizes[at] / sizes[at - 1])) < np.log(factor):
        return
    step, before = curve.step_at(at), curve.step_at(at - 1)
    lr = features.curve("lr")
    rates = lr.at_steps(np.array([before, step])) if lr is not None and lr.n > 1 else np.zeros(2)
    kept = rates[0] > 0 and abs(rates[1] / rates[0] - 1) < same
    worse = describe_loss_since(features, before, curve.step_at(min(at + int(points), curve.n - 1)))
    yield Evidence(
        onset=step,
        last=step,
        where=curve.name,
        severity="low" if worse else "info",
        values={
            "before": sizes[at - 1],
            "after": sizes[at],
            "at": step,
            "rate": (f"; the learning rate stayed at {rates[1]:.4g}" if kept else "") + worse,
        },
        points=(EvidencePoint(curve.name, step, float(sizes[at]), float(sizes[at - 1])),),
    )
