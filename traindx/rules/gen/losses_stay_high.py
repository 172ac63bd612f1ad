"""GEN002: training and held-out loss level off while little has been learned."""

from typing import NamedTuple

from traindx.features.curves.generalization import reached
from traindx.features.curves.signal_pairs import accuracy
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    Severity,
    median,
    np,
    rule,
    slope,
    threshold,
)

HELD_OUT = 12  # evaluations that show where a held-out loss goes


class State(NamedTuple):
    """The loss at both ends and its improvement as share of the level at the start (`late`: over the last half,
    in either direction); where an accuracy is known, that, and its share of the way from where it began to 1."""

    curve: Curve
    start: float
    end: float
    progress: float
    late: float
    accuracy: float | None
    skill: float | None


@rule(
    code="GEN002",
    needs=("train/loss|val/loss",),
    min_points=20,
    severity="medium",
    message="{signal} goes from {start:.4g} to {end:.4g} and levels off there{score}",
    follows=(
        "loss-not-finite", "loss-diverges", "loss-flat-from-start", "loss-at-chance", "learning-rate-is-zero",
        "learning-rate-vanishes-early", "gradient-norm-vanishes", "gradient-is-zero",
    ),
)  # fmt: skip
def losses_stay_high(
    run: Run,
    features: Features,
    *,
    long: float = threshold(40, "points", "convention", "shorter runs have not levelled off"),
    little: float = threshold(0.2, "of the starting level", "convention", "a net that fits: 50 % and more"),
    scored: float = threshold(0.35, "of the starting level", "convention", "where the score is poor too"),
    slow: float = threshold(0.1, "of the starting level, last half", "convention", "levelled off"),
    poor: float = threshold(0.8, "accuracy", "convention", "above: good enough to ask no more"),
    gap: float = threshold(0.3, "of the training loss", "convention", "beyond: no underfitting"),
    chance: float = threshold(0.05, "of ln k", "theory", "an untrained classifier's loss is ln k"),
    goes_on: float = threshold(0.2, "of the fall, last half", "theory", "a straight line: half of it"),
    nothing: float = threshold(0.05, "of the starting level", "convention", "of both losses"),
) -> Iterator[Evidence]:
    """Training and held-out loss level off high: little of the starting level is gone, and there is no gap.

    ## What it sees
    A long run whose loss no longer moves much, and one of: an accuracy that is still poor; a start at ln k
    (an untrained classifier) with little gone of it; an end above the start; a training loss that lost less
    than 5 % while the held-out loss ends no better than it began (20 points are enough for that).

    ## Why it matters
    The network does not even fit its training data; more data or regularization cannot help.

    ## When it is wrong
    Targets that cannot be predicted better; a late drop that is still to come.

    ## What to try
    Overfit one batch; then learning rate, capacity, regularization, and what the inputs hold.

    ## Sources
    Goodfellow et al., "Deep Learning" (2016), ch. 11; Karpathy, "A recipe for training neural networks".
    """
    curve = features.curve("train/loss") or features.curve("val/loss")
    if features.is_reinforcement or curve is None or curve.n < 4 or median(curve.values[:3]) <= 0:
        raise CannotJudge("needs a loss that begins above zero")
    state = look(curve, [accuracy(features, split) for split in ("train/", "val/")])
    if state.late > slow or held_out_is_worse(features, state, gap):
        return
    kind = nowhere(features, state, nothing)
    if kind is None and curve.n >= long and not still_falls(state, goes_on):
        kind = judge(state, run.setup.classes, little, scored, poor, chance)
    if kind:
        yield tell(state, kind)


def look(curve: Curve, accuracies: list[Floats | None]) -> State:
    """The loss, and the better one of the accuracies: noisy labels and augmentation spoil that of training."""
    start, half = float(median(curve.values[:3])), curve.n // 2
    width = max(3, half // 4)
    middle = float(median(curve.values[half : half + width]))
    reach = skill = None
    known = [values for values in accuracies if values is not None and len(values) > 1]
    begun = min(
        (float(values[0]) for values in known), default=0.0
    )  # the later of them has learned for an epoch
    for values in known:
        end = float(median(values[-max(1, min(width, len(values) // 4)) :]))
        if reach is None or end > reach:
            reach, skill = end, (end - begun) / max(1 - begun, np.finfo(np.float64).eps)
    return State(
        curve, start, curve.end, 1 - curve.end / start, abs(middle - curve.end) / start, reach, skill
    )


def held_out_is_worse(features: Features, state: State, gap: float) -> bool:
    """Whether there is a gap to held-out data: then training is not what is in the way."""
    val = features.curve("val/loss")
    return val is not None and state.curve is not val and val.end - state.end > gap * abs(state.end)


def still_falls(state: State, share: float) -> bool:
    """Whether the last half still gains a good part of all that was gained, beyond noise: then nothing has levelled
    off."""
    late = slope(state.curve.oriented[state.curve.n // 2 :])
    return bool(-late.change > share * (state.start - state.end) > 0 and late.z < -2)


def nowhere(features: Features, state: State, nothing: float) -> tuple[str, Severity] | None:
    """Whether neither loss got anywhere: hardly less in training, and no better on held-out data."""
    val = features.curve("val/loss")
    if val is None or val is state.curve or val.n < HELD_OUT or not 0 <= state.progress < nothing:
        return None
    first, last = float(median(val.values[:3])), float(median(val.values[-max(3, val.n // 4) :]))
    return (
        ("nowhere", "medium") if last >= first and first > 0 and val.best > (1 - nothing) * first else None
    )


def judge(
    state: State, classes: int | None, little: float, scored: float, poor: float, chance: float
) -> tuple[str, Severity] | None:
    """Which of the three ways of staying high this is, if any, and how serious."""
    if state.accuracy is not None and state.skill is not None:
        if state.accuracy >= poor or state.skill >= 0.5:
            return None
        if state.progress < scored:
            return "score-poor", "medium"
    if state.end > state.start + 2 * chance * state.start + 3 * state.curve.noise:
        return "above-start", "medium"
    if classes is None or classes < 2:
        return None  # some k always fits: chance is not guessed after the fact
    near = abs(state.start / np.log(classes) - 1) < 2 * chance
    return ("from-chance", "medium") if near and state.progress < little else None


def tell(state: State, kind: tuple[str, Severity]) -> Evidence:
    aspect, severity = kind
    curve, last = state.curve, state.curve.step_at(state.curve.n - 1)
    points = [
        EvidencePoint(curve.name, curve.step_at(0), state.start),
        EvidencePoint(curve.name, last, state.end, state.start),
    ]
    if state.accuracy is not None:
        points.append(EvidencePoint("accuracy", last, state.accuracy))
    return Evidence(
        onset=curve.step_at(reached(curve.trend, 0.5)),
        last=last,
        where=curve.name,
        strength=float(np.clip(1 - max(state.progress, 0), 0.5, 1)),
        aspects=(aspect,),
        severity=severity,
        values={
            "signal": curve.name,
            "start": state.start,
            "end": state.end,
            "score": "" if state.accuracy is None else f", with an accuracy of {state.accuracy:.3g}",
        },
        points=tuple(points),
    )
