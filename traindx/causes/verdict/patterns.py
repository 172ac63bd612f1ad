"""The benign shape that a run shows; reported with the cause `healthy`."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from traindx.features.curve import Curve
from traindx.features.curves.plateaus import flat_tail, improvement
from traindx.features.shared import Features
from traindx.features.statistics import median, slope
from traindx.vocabulary import Outcome, Run, threshold

Seen = Mapping[str, frozenset[str]]
EPOCH_AXES = ("epoch", "round")


def pattern(outcomes: Sequence[Outcome], run: Run, features: Features) -> str | None:
    """The slug of the benign shape that describes this run best, or None."""
    seen = fired_aspects(outcomes)
    return next((slug for slug, shows in SHAPES if shows(seen, run, features)), None)


def fired_aspects(outcomes: Sequence[Outcome]) -> dict[str, frozenset[str]]:
    """Aspects of every rule that fired, by slug."""
    return {
        o.rule.slug: frozenset(a for e in o.evidence for a in e.aspects)
        for o in outcomes
        if o.status == "fired"
    }


def too_short_to_tell(
    seen: Seen,
    run: Run,
    features: Features,
    *,
    points: float = threshold(
        10, "points", basis="convention", source="fewer points do not separate a trend from noise"
    ),
    epochs: float = threshold(
        4, "epochs", basis="convention", source="a point that averages an epoch is less noisy"
    ),
    early: float = threshold(
        0.1, "of the plan", basis="convention", source="most of the run is still to come"
    ),
    first: float = threshold(
        0.01, "of the plan", basis="convention", source="hardly begun, however often it is logged"
    ),
    close: float = threshold(60, "points", basis="convention", source="enough to judge even a beginning"),
    many: float = threshold(20, "points", basis="convention", source="enough to judge whatever was planned"),
) -> bool:
    """Too few points, or few points and less than a tenth of the planned run."""
    if run.axis == "sample":
        return False  # a data set, not a run: no more points will come
    curve = features.objective
    if features.is_duel:
        return run.points < points
    if curve is None or curve.n < (epochs if has_epoch_points(curve, run) else points):
        return True
    planned, last = run.setup.number("planned_steps"), run.last_step
    if not planned or last is None or last < 0:
        return False
    return bool((last < early * planned and curve.n < many) or (last < first * planned and curve.n < close))


def has_epoch_points(curve: Curve, run: Run) -> bool:
    """Whether each point covers about an epoch or more (not a hundredth of one)."""
    return run.axis in EPOCH_AXES and curve.n > 1 and bool(median(np.diff(curve.steps)) >= 0.5)


def adversarial_balance(seen: Seen, run: Run, features: Features) -> bool:
    """Both networks of an adversarial game are logged, and no rule found that one of them fails."""
    return features.is_duel and not {"loss-not-finite", "loss-diverges", "discriminator-wins"} & set(seen)


def warmup_phase(
    seen: Seen,
    run: Run,
    features: Features,
    *,
    at_peak: float = threshold(
        0.999, "of the peak lr", basis="convention", source="rounding of logged rates"
    ),
    ramp: float = threshold(1.5, "x", basis="convention", source="clearly not a constant rate"),
) -> bool:
    """The learning rate has only risen so far, or its warm-up is longer than the run."""
    steps, last = run.setup.number("warmup_steps"), run.last_step
    if steps and last is not None and last < steps:
        return True
    lr = features.curve("lr")
    if lr is None or lr.n < 4 or lr.values.max() <= 0:
        return False
    rises = np.diff(lr.values)
    rising = bool(np.all(rises >= 0)) and int(np.count_nonzero(rises > 0)) >= max(
        3, lr.n // 2
    )  # not one jump
    at_end, halfway = lr.values[-1], lr.values[lr.n // 2]
    rising = rising and bool(np.any(rises[-max(1, lr.n // 20) :] > 0))  # otherwise the warm-up is over
    return rising and bool(at_end >= at_peak * lr.values.max()) and bool(at_end > ramp * halfway)


def restart_bump(seen: Seen, run: Run, features: Features) -> bool:
    """The learning rate was raised, and the loss did not end worse."""
    raised = "up" in seen.get("learning-rate-jumps", frozenset())
    return raised and not {"loss-diverges", "loss-not-finite", "loss-spikes-then-fails"} & set(seen)


def converged(seen: Seen, run: Run, features: Features) -> bool:
    """The loss is level at the end, well below its start, and not at the level of guessing."""
    plateau = seen.get("loss-plateaus", frozenset())
    if {"at-chance", "high"} & plateau or {"loss-at-chance", "loss-flat-from-start", "loss-diverges"} & set(
        seen
    ):
        return False
    if {"low", "metric-good"} & plateau:
        return True
    curve = features.objective
    open_end = {"loss-still-falling-at-end", "losses-stay-high"} & set(seen)
    if curve is None or open_end:
        return False
    return levelled_off(curve) if rate_spent(features) or fell_to_small_share(curve) else is_flat(curve)


def rate_spent(
    features: Features,
    *,
    left: float = threshold(
        0.02, "of the peak lr", basis="convention", source="steps this small change nothing"
    ),
) -> bool:
    """Whether the learning rate has decayed to almost zero."""
    lr = features.curve("lr")
    return (
        lr is not None and lr.n > 1 and lr.values.max() > 0 and bool(lr.values[-1] <= left * lr.values.max())
    )


def is_flat(
    curve: Curve,
    *,
    still: float = threshold(0.12, "of the speed before", basis="theory", source="as for loss-plateaus"),
    most: float = threshold(0.05, "of all gained before", basis="convention", source="as for loss-plateaus"),
) -> bool:
    """Whether the curve ends in a plateau, whatever limits the rules were given."""
    return curve.n >= 12 and flat_tail(curve, still=still, most=most) is not None


def fell_to_small_share(
    curve: Curve,
    *,
    rest: float = threshold(
        0.1, "of the starting loss", basis="convention", source="loss-plateaus calls this a good value"
    ),
) -> bool:
    """Whether a positive loss has fallen to a small part of its starting value."""
    return bool(0 < curve.end <= rest * curve.start)


def levelled_off(
    curve: Curve,
    *,
    last: float = threshold(
        0.25, "of the run", basis="convention", source="the part by which an end is judged"
    ),
    rest: float = threshold(
        0.05, "of the fall", basis="convention", source="a quarter of the run gained 5 % of the fall"
    ),
    clear: float = threshold(
        4.0, "x spread", basis="convention", source="the fall must be clear of the noise"
    ),
) -> bool:
    """Whether the end of the curve changed by only a small part of the whole fall."""
    fall = curve.start - curve.end
    if curve.n < 8 or fall <= 0 or fall < clear * curve.spread:
        return False
    return bool(abs(slope(curve.as_loss[-max(4, int(last * curve.n)) :]).change) < rest * fall)


def recovered_spike(seen: Seen, run: Run, features: Features) -> bool:
    """The loss recovered after a spike that was not long ago; otherwise the later curve describes the
    run better."""
    return "long-ago" not in seen.get("loss-spikes-and-recovers", frozenset({"long-ago"}))


def still_learning(
    seen: Seen,
    run: Run,
    features: Features,
    *,
    least: float = threshold(
        0.02, "of the improvement", basis="convention", source="a second half that brought less is level"
    ),
    doubtful: float = threshold(
        2.0, "x standard error", basis="theory", source="the usual bound of significance"
    ),
) -> bool:
    """The loss ends lower than it began and has not levelled off: its second half still improved it."""
    level = seen.get("loss-plateaus", frozenset({"validation"})) != {"validation"}
    if level or {"loss-flat-from-start", "loss-at-chance", "loss-diverges"} & set(seen):
        return False
    curve = features.objective
    if curve is None or "loss-still-falling-at-end" in seen:
        return curve is not None
    gained, (_, error) = curve.start - curve.end, improvement(curve)
    middle = float(median(curve.as_loss[curve.n // 2 :][: max(1, curve.n // 10)]))
    return gained > 2 * curve.spread and middle - curve.end > max(least * gained, doubtful * error)


def when_rule_fires(slug: str) -> Callable[[Seen, Run, Features], bool]:
    """A shape that one rule detects."""
    return lambda seen, run, features: slug in seen


# The first match is shown: shapes that explain an unusual curve come before those that describe a plain one.
SHAPES: tuple[tuple[str, Callable[[Seen, Run, Features], bool]], ...] = (
    ("delayed-generalization", when_rule_fires("validation-drops-late")),
    ("epoch-wise-double-descent", when_rule_fires("validation-rises-then-falls")),
    ("s-curve", when_rule_fires("loss-drops-late")),
    ("recovered-spike", recovered_spike),
    ("too-short-to-tell", too_short_to_tell),
    ("adversarial-balance", adversarial_balance),
    ("warmup-phase", warmup_phase),
    ("restart-bump", restart_bump),
    ("regularization-gap", when_rule_fires("validation-beats-training")),
    ("converged", converged),
    ("still-learning", still_learning),
)
