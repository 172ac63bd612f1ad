"""SYS013 optimizer-takes-time."""

from traindx.features.performance.level_shifts import SHORTEST
from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="SYS013",
    needs=("time/optimizer", "time/forward", "time/backward", "operator_time/*"),
    min_points=1,
    severity="low",
    message="updating the weights takes {share:.0%} of the computation of a step",
)
def optimizer_takes_time(
    run: Run,
    features: Features,
    *,
    some: float = threshold(0.4, "of the computation", "convention", "as much as the forward pass"),
    much: float = threshold(0.6, "of the computation", "convention", "more than both passes"),
    brief: float = threshold(0.005, "s", "convention", "a shorter step can gain little"),
) -> Iterator[Evidence]:
    """The optimizer takes longer than a pass through the model.

    ## What it sees
    In a trace, the time of the optimizer divided by that of forward, backward and optimizer, for a typical
    row. Severity is low from 40 % on and medium from 60 % on. It is info if the three take less than 5 ms.

    ## Why it matters
    With larger batches or a fused implementation the same samples take much less time.

    ## When it is wrong
    On an accelerator, the host's time in the optimizer is the time to launch it, and may include
    waiting. Second-order optimizers are slow by design.

    ## What to try
    Use `fused=True` or foreach=True, more samples per step, and leave frozen weights out of the
    optimizer.

    ## Sources
    PyTorch documentation, torch.optim (foreach and fused implementations),
    https://docs.pytorch.org/docs/stable/optim.html.
    """
    curves = [features.needed_curve(f"time/{part}") for part in ("optimizer", "forward", "backward")]
    if any(c.n == 0 for c in curves):
        raise api.CannotJudge("no finite time was measured")
    first = curves[0]
    own, rest = first.values, [c.at_steps(first.steps) for c in curves[1:]]
    whole = own + np.sum(rest, axis=0)
    share, seconds = float(median(own / np.maximum(whole, SHORTEST))), float(median(whole))
    if share < some:
        return
    weighty = share >= much and seconds >= brief
    yield Evidence(
        onset=first.step_at(0),
        last=first.step_at(first.n - 1),
        strength=1.0 if weighty else 0.5,
        severity="info" if seconds < brief else "medium" if weighty else "low",
        values={"share": share},
        points=(
            api.EvidencePoint(
                "time/optimizer", first.step_at(first.n - 1), float(median(own)), some * seconds, "s"
            ),
        ),
    )
