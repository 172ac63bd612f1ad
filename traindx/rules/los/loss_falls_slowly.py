"""LOS005: the loss falls, but slowly and in a straight line."""

from traindx.features.curves.plateaus import improvement
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    Features,
    Iterator,
    Run,
    median,
    rule,
    slope,
    threshold,
)


@rule(
    code="LOS005",
    needs=("objective",),
    min_points=16,
    severity="low",
    message="{name} falls slowly, nearly in a straight line: from {start:.4g} to {end:.4g}, by {fraction:.1%}",
    follows=("learning-rate-vanishes-early",),
)
def loss_falls_slowly(
    run: Run,
    features: Features,
    *,
    slow: float = threshold(0.25, "of the starting level", "convention", "fault catalogue 3, 15, 50"),
    straight: float = threshold(0.25, "of the first half's fall", "theory", "log gains 0.3, x^-0.5 0.13"),
    least: float = threshold(0.02, "of the starting level", "convention", "less is no fall"),
    transient: float = threshold(0.05, "of the run", "convention", "warm-up says nothing about speed"),
    tiny_norm: float = threshold(1e-2, "gradient norm", "seed", "requirements: very low (< 0.01)"),
    surely: float = threshold(4.0, "x standard error", "theory", "the fall itself must be beyond doubt"),
) -> Iterator[Evidence]:
    """A significant but slow, nearly straight fall over the whole run.

    ## What it sees
    The loss gains less than a quarter of its starting level, the second half still gains a good part of what the
    first did, and the fall is clear against the noise.

    ## Why it matters
    A curve that is still straight has not met any limit yet: its steps are too small, or too few.

    ## When it is wrong
    Fine-tuning starts near its goal and has little to gain. Losses with a large constant part move little by
    construction.

    ## What to try
    Multiply the learning rate by three to ten for a short run; compare slopes.

    ## Sources
    differential.md (learning-rate-too-low: slow, straight, still falling at the end).
    """
    curve = features.needed_curve("objective")
    if curve.sign < 0:
        raise CannotJudge("only losses are judged: a metric that rises slowly may be near its limit")
    y, n = curve.oriented, curve.n
    if curve.start <= 0:
        raise CannotJudge("needs a positive loss")
    if cut_short(features, curve):
        raise CannotJudge(
            "the learning rate falls before the end: what the loss does then is the schedule's"
        )
    skip = int(transient * n)
    first, second = slope(y[skip : n // 2]), slope(y[n // 2 :])
    fall, error = curve.start - curve.end, improvement(curve)[1]
    fraction = fall / curve.start
    if not least < fraction < slow or fall < surely * error:
        return
    if second.change >= 0 or -second.change < straight * max(-first.change, 0.0) or second.z > -2:
        return
    norm = features.curve("grad_norm")
    tiny = norm is not None and norm.n > 0 and float(median(norm.values)) < tiny_norm
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=1.0 if fraction < slow / 2 else 0.5,
        severity=None if fraction < slow / 2 else "info",
        aspects=("straight", *(() if norm is None else ("norm-tiny" if tiny else "norm-healthy",))),
        values={"name": curve.name, "fraction": fraction, "start": curve.start, "end": curve.end},
        points=(curve.point(0, curve.start), curve.point(-1, curve.end, curve.start)),
    )


def cut_short(features: Features, curve: Curve) -> bool:
    """Whether the learning rate comes down over the second half of the points, to half of its peak and less: by then
    what the loss does is the schedule's (a linear one is at a half there)."""
    lr = features.curve("lr")
    if lr is None or lr.n < 2 or lr.values.max() <= 0:
        return False
    rates = lr.at_steps(curve.steps[curve.n // 2 :])
    return bool(
        median(rates[-max(1, len(rates) // 4) :]) < lr.values.max() / 2 and rates[0] > lr.values.max() / 4
    )
