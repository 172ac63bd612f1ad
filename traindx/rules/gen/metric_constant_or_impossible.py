"""GEN009: a metric that repeats one value, or has one that it cannot have."""

from traindx.features.curves.progress import young
from traindx.features.curves.score_scales import EXTREMES, is_late, scale_of, scores, words_of
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)

SOME, PERCENT = 5, 100  # points that tell shares from per cent
TOTALS = ("train/loss", "val/loss")


@rule(
    code="GEN009",
    needs=("train/*|val/*",),
    min_points=1,
    severity="medium",
    message="{name} is {value:.6g} in all of its {count} points, digit for digit",
    follows=("loss-at-chance", "loss-flat-from-start", "learning-rate-is-zero", "parameters-never-change"),
)
def metric_constant_or_impossible(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "points", "convention", "three printed alike happen by chance"),
    tail: float = threshold(0.5, "of the points", "convention", "a value that came to stay"),
    fell: float = threshold(0.1, "of the first loss", "convention", "from above this none falls to 0"),
    absurd: float = threshold(1e18, "loss", "theory", "its square overflows single precision"),
    below: float = threshold(2.0, "x the first loss, under 0", "convention", "no entropy is negative"),
    slack: float = threshold(1e-4, "of the scale", "convention", "rounding beyond its end"),
    epochs: float = threshold(5, "epochs", "convention", "detectors score 0 in their first epochs"),
    steps: float = threshold(1e4, "steps", "convention", "the same where epochs are not told"),
) -> Iterator[Evidence]:
    """A metric does not move by a digit, is exactly zero where it cannot be, or lies outside of its own scale.

    ## What it sees
    Scores with a scale of their own (accuracy, AUC, F1, mAP, BLEU, error rates ...), perplexities and losses. One that
    repeats one value in four points and more, and not the perfect one; a loss that drops to exactly 0 from one point
    to the next and stays there, or is 0 from the start beside one that is not; two parts of a loss that are 0
    throughout; a share above 1 or below 0, a perplexity below 1, a loss above 1e18, a loss that falls below 0 and on
    where an accuracy is logged.

    ## Why it matters
    A constant metric is computed from something that does not change: one answer for all, labels that are masked, a
    set that is empty, a line of code that is not reached. An impossible one is computed wrongly, and what is chosen by
    it is chosen at random.

    ## When it is wrong
    A small validation set in a run that has converged; a metric that is only computed now and then and printed in
    between; detectors that score 0 in their first epochs (not told before the fifth); the score of a recording of
    fewer than a hundred steps (not told).

    ## What to try
    Print the predictions for one batch, and compute the metric by hand.

    ## Sources
    Definitions of the metrics; requirements (a metric that cannot be real).
    """
    seen = [c for c in told_curves(features) if c.n]
    if not seen:
        raise CannotJudge("needs a loss or a score with finite values")
    for curve in seen:
        if said := impossible(curve, absurd, slack):
            yield evidence(curve, said, "high", ("impossible",))
            return
    if (loss := below_zero(features, below)) is not None:
        told = f"{loss.name} comes down to {loss.end:.4g} beside an accuracy: no cross-entropy is below 0"
        yield evidence(loss, told, "high", ("impossible", "below-zero"))
        return
    late = is_late(features, epochs, steps)
    for curve in seen:
        if curve.n < least or not np.all(np.isfinite(curve.raw.values[-int(least) :])):
            continue
        policy = features.is_reinforcement  # whose loss is about 0 by construction
        if curve.name in TOTALS and not policy and (zero := zeros(features, curve, least)) is not None:
            yield zero
            return
        if vanished(curve, tail, fell):
            told = f"{curve.name} falls to exactly 0 from one point to the next and stays there"
            yield evidence(curve, told, "high", ("zero",))
            return
        if repeats(curve) and (late or curve.values[-1] != 0) and (curve.name in TOTALS or not young(run)):
            values: dict[str, object] = {
                "name": curve.name,
                "value": float(curve.values[-1]),
                "count": curve.n,
            }
            yield evidence(
                curve, None, None, ("constant", "loss") if curve.name in TOTALS else ("constant",), values
            )
            return


def zeros(features: Features, curve: Curve, least: float) -> Evidence | None:
    """A loss that is 0 throughout, or parts of it that are."""
    if not np.any(curve.values):
        return evidence(
            curve, f"{curve.name} is exactly 0 in all of its {curve.n} points", "medium", ("zero",)
        )
    if len(empty := empty_parts(features, least)) < 2:
        return None
    told = f"{' and '.join(empty[:2])} are exactly 0 in all of their points: nothing is learned for them"
    return evidence(curve, told, "medium", ("zero", "parts"))


def empty_parts(features: Features, least: float) -> list[str]:
    """Parts of the training loss that are 0 throughout (a single one may have no weight, or a single class)."""
    named = [n for n in features.run.series if n.startswith("train/") and "loss" in n and n not in TOTALS]
    parts = [c for n in named if (c := features.curve(n)) is not None and c.n >= least]
    return [c.name for c in parts if not np.any(c.values)]


def told_curves(features: Features) -> Iterator[Curve]:
    """Losses (the totals first) and scores, without running extremes."""
    names = [n for n in features.run.series if n.startswith(("train/", "val/"))]
    losses = [n for n in names if n.endswith("loss") and not words_of(n) & EXTREMES]
    for name in sorted(losses, key=lambda n: (n not in ("train/loss", "val/loss"), n)):
        if (curve := features.curve(name)) is not None:
            yield curve
    for split in ("val/", "train/"):
        yield from scores(features, split, 1)


def impossible(curve: Curve, absurd: float, slack: float) -> str:
    """What is wrong with a value that the metric cannot have ("" where there is none)."""
    low, high = float(curve.values.min()), float(curve.values.max())
    if curve.name.endswith("loss"):
        return f"{curve.name} is {high:.4g}: no loss is so large" if high > absurd else ""
    scale = scale_of(curve.name, curve.values)
    if scale is None:
        return ""
    size = abs(scale.perfect) or 1.0
    within = (curve.values >= scale.low) & (curve.values <= scale.high)
    if not within.any() or (curve.n < SOME and high <= PERCENT):
        return (
            ""  # never a value of that scale: another number that is called alike, or a percentage of little
        )
    for value, beyond in ((high, high > scale.high + slack * size), (low, low < scale.low - slack * size)):
        if beyond:
            return f"{curve.name} is {value:.6g}, and cannot be: its scale goes from {scale.low:g} to {scale.high:g}"
    return ""


def below_zero(features: Features, times: float) -> Curve | None:
    """The loss of a classifier (an accuracy is logged) that falls below zero and on without end; a cosine or a margin
    levels off."""
    accuracies = [features.curve(s + "accuracy") for s in ("train/", "val/")]
    if features.is_reinforcement or not any(c is not None and c.n for c in accuracies):
        return None
    for curve in (c for n in TOTALS if (c := features.curve(n)) is not None and c.n >= 4):
        half = curve.n // 2
        middle = float(curve.values[half])
        goes_on = middle - curve.end >= (curve.start - middle) / 2 > 0
        if curve.end < -times * abs(curve.start) and goes_on:
            return curve
    return None


def vanished(curve: Curve, tail: float, fell: float) -> bool:
    """Whether a loss drops from a good part of its start to exactly 0 in one step, and stays."""
    if not curve.name.endswith("loss") or curve.values[-1] != 0 or not np.any(curve.values):
        return False
    last = int(np.flatnonzero(curve.values)[-1])
    return curve.n - 1 - last >= max(3, tail * curve.n) and float(curve.values[last]) > fell * abs(
        curve.start
    )


def repeats(curve: Curve) -> bool:
    """Whether every value is the same, and is not the perfect one."""
    if np.ptp(curve.values) != 0:
        return False
    scale = scale_of(curve.name, curve.values)
    value = float(curve.values[-1])
    return value != 0 if scale is None else value != scale.perfect


def evidence(
    curve: Curve,
    told: str | None,
    severity: object,
    aspects: tuple[str, ...],
    values: dict[str, object] | None = None,
) -> Evidence:
    last = float(curve.steps[-1])
    return Evidence(
        onset=float(curve.steps[0]),
        last=last,
        where=curve.name,
        severity=severity,  # type: ignore[arg-type]
        aspects=aspects,
        message=told,
        values=values or {},
        points=(EvidencePoint(curve.name, last, float(curve.values[-1])),),
    )
