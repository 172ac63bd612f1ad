"""LOS005 loss-falls-slowly."""

from traindx.rules.api import CannotJudge, Evidence, Features, Iterator, Run, api, rule, slope, threshold


@rule(
    code="LOS005",
    needs=("objective",),
    min_points=16,
    severity="low",
    persistence="slow",
    message="{name} fell by only {fraction:.1%} (medians at both ends), in an almost straight line",
    follows=("learning-rate-vanishes-early",),
)
def loss_falls_slowly(
    run: Run,
    features: Features,
    *,
    slow: float = threshold(0.25, "of the starting level", "measured", "a good rate gains more in a run"),
    straight: float = threshold(0.25, "of the first half's fall", "theory", "log gains 0.3, x^-0.5 0.13"),
    least: float = threshold(0.005, "of the starting level", "convention", "less is hardly seen in a plot"),
    transient: float = threshold(0.05, "of the run", "measured", "the warm-up does not show the speed"),
    tiny_norm: float = threshold(1e-2, "gradient norm", "convention", "healthy norms are 0.1 to 10"),
    surely: float = threshold(4.0, "x standard error", "theory", "the fall must be clear"),
) -> Iterator[Evidence]:
    """The loss falls clearly but slowly, in an almost straight line.

    ## What it sees
    A loss that falls by 0.5 to 25 % of its starting level over the whole run. The second half still gains at
    least a quarter of what the first half gained, and the fall exceeds 4 standard errors. Severity is low,
    and info if the loss fell by more than 12.5 %. A run whose learning rate decays is not judged.

    ## Why it matters
    A curve that is still straight has not met any limit yet: its steps are too small, or there are too few
    of them.

    ## When it is wrong
    Fine-tuning starts close to its goal and has little to gain. A loss with a large constant part falls
    little by construction.

    ## What to try
    Raise the learning rate by a factor of 3 to 10 for a short run, and compare the slopes.

    ## Sources
    Smith (2017), Cyclical learning rates for training neural networks (learning rate range test),
    arXiv:1506.01186. Our page on finding a learning rate: docs/find-lr.md.
    """
    curve = features.needed_curve("objective")
    if curve.sign < 0:
        raise CannotJudge("only losses are judged, because a metric that rises slowly may be near its limit")
    y, n = curve.as_loss, curve.n
    if curve.start <= 0:
        raise CannotJudge("needs a positive loss")
    if cut_short(features, curve):
        raise CannotJudge("the learning rate decays before the end, and the loss follows it")
    skip = int(transient * n)
    first, second = slope(y[skip : n // 2]), slope(y[n // 2 :])
    fall, error = curve.start - curve.end, api.improvement(curve)[1]
    fraction = fall / curve.start
    later = any(e.code == "late-start" for e in run.events)  # most of the fall may come before the excerpt
    if later or not least < fraction < slow or fall < surely * error:
        return
    if second.change >= 0 or -second.change < straight * max(-first.change, 0.0) or second.z > -2:
        return
    norm = features.curve("grad_norm")
    tiny = norm is not None and norm.n > 0 and float(api.median(norm.values)) < tiny_norm
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=1.0 if fraction < slow / 2 else 0.5,
        severity=None if fraction < slow / 2 else "info",
        aspects=("straight", *(() if norm is None else ("norm-tiny" if tiny else "norm-healthy",))),
        values={"name": curve.name, "fraction": fraction},
        points=(curve.point(0, curve.start), curve.point(-1, curve.end, curve.start)),
    )


def cut_short(features: Features, curve: api.Curve) -> bool:
    """Whether the learning rate decays to less than half of its peak over the second half of the points. The
    loss then follows the schedule. (A linear schedule is at one half there.)"""
    lr = features.curve("lr")
    if lr is None or lr.n < 2 or lr.values.max() <= 0:
        return False
    rates = lr.at_steps(curve.steps[curve.n // 2 :])
    return bool(
        api.median(rates[-max(1, len(rates) // 4) :]) < lr.values.max() / 2
        and rates[0] > lr.values.max() / 4
    )
