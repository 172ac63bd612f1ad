"""LOP009 scheduler-steps-too-often."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOP009",
    needs=(
        "lr",
        "setup:schedule",
    ),
    min_points=1,
    severity="medium",
    message="{kind} is stepped in every batch: the learning rate was {left:.0%} of its peak by step "
    "{step:g}",
)
def scheduler_steps_too_often(
    run: Run,
    features: Features,
    *,
    often: float = threshold(0.5, "of the steps", "convention", "the rate changes with nearly every step"),
    every: float = threshold(0.9, "of the steps", "convention", "calls of step(): one per batch"),
    gone: float = threshold(0.01, "of the peak", "convention", "later steps change nothing"),
    soon: float = threshold(0.6, "of the run", "convention", "a correct schedule ends with the run"),
) -> Iterator[Evidence]:
    """A schedule that counts epochs is stepped in every batch.

    ## What it sees
    A step, exponential or plateau schedule is called once per batch, and its rate falls to 1 % of its peak
    long before the run ends. Where calls were not counted, a rate that changes at most steps shows it.

    ## Why it matters
    The rate is almost zero after a few epochs, and training stops.

    ## When it is wrong
    An exponential schedule with a factor chosen per batch reaches its end with the run, and is not
    reported.

    ## What to try
    Call scheduler.step() once per epoch, or scale its constants to steps.

    ## Sources
    PyTorch documentation, How to adjust learning rate, https://docs.pytorch.org/docs/stable/optim.html.
    """
    curve = features.needed_curve("lr")
    kind = run.setup.word("schedule")
    if not any(word in kind for word in ("exponential", "steplr", "multistep", "multiplicative", "plateau")):
        raise CannotJudge("only schedules that count epochs are judged")
    peak = float(curve.values.max()) if curve.n else 0.0
    if curve.n < 4 or peak <= 0:
        return
    changes = float(np.mean(np.diff(curve.values[curve.values > gone * peak]) != 0)) if curve.n else 0.0
    low = np.flatnonzero(curve.values <= gone * peak)
    calls, steps = run.setup.number("scheduler_steps"), run.setup.number("optimizer_steps")
    frequent = changes >= often if calls is None or not steps else calls >= every * steps
    if not frequent or not len(low) or low[0] > soon * curve.n:
        return
    yield Evidence(
        onset=curve.step_at(int(low[0])),
        last=curve.step_at(curve.n - 1),
        values={"kind": kind, "left": gone, "step": curve.step_at(int(low[0]))},
        points=(curve.point(int(low[0]), expected=peak),),
    )
