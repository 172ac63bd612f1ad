"""GEN002 losses-stay-high."""

import msgspec

from traindx.features.curves.generalization import index_reaching
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, median, np, rule, threshold

HELD_OUT = 12  # evaluations that show the trend of a validation loss


class State(msgspec.Struct, frozen=True):
    """The loss at both ends and its improvement as share of the level at the start (`late`: over the last
    half, in either direction); if an accuracy is known, that, and how much of the way from its start to 1 it
    made."""

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
    persistence="steady",
    message="{signal} levels off at {end:.4g} after a start at {start:.4g} (medians at both ends){score}",
    follows=(
        "loss-not-finite", "loss-diverges", "loss-flat-from-start", "loss-at-chance",
        "learning-rate-is-zero", "learning-rate-vanishes-early", "gradient-norm-vanishes",
        "gradient-is-zero",
    ),
)  # fmt: skip
def losses_stay_high(
    run: Run,
    features: Features,
    *,
    long: float = threshold(40, "points", "convention", "shorter runs have not leveled off"),
    little: float = threshold(
        0.2, "of the starting level", "convention", "a network that fits: 50 % and more"
    ),
    scored: float = threshold(0.35, "of the starting level", "measured", "if the score is poor too"),
    slow: float = threshold(0.1, "of the starting level, last half", "convention", "leveled off"),
    poor: float = threshold(0.8, "accuracy", "convention", "a higher one is good enough"),
    gap: float = threshold(0.3, "of the training loss", "convention", "a larger gap is overfitting"),
    chance: float = threshold(0.05, "of ln k", "theory", "an untrained classifier's loss is ln k"),
    goes_on: float = threshold(0.2, "of the fall, last half", "theory", "a straight line: half of it"),
    nothing: float = threshold(0.05, "of the starting level", "convention", "of both losses"),
) -> Iterator[Evidence]:
    """The training loss levels off high, without a gap to validation.

    ## What it sees
    A training loss that changes by less than 10 % of its first level over the second half. The validation
    loss is at most 30 % above it. In addition, one of these is true:

    - an accuracy below 0.8 that made less than half of the way to 1, while the loss fell by less than 35 %
      (40 points);
    - a start at ln k for k classes, and a fall of less than 20 % that leaves more than a quarter of as many
      equally likely answers (40 points);
    - an end above the start (40 points);
    - a training loss that fell by less than 5 % and a validation loss that ends no better than it began (20
      points).

    ## Why it matters
    The network does not fit its training data. More data or regularization cannot help.

    ## When it is wrong
    Targets that cannot be predicted any better. A sudden fall that is still to come.

    ## What to try
    Overfit one batch. Then check the learning rate, the capacity, the regularization, and what the inputs
    contain.

    ## Sources
    Goodfellow et al. (2016), Deep learning, chapter 11, https://www.deeplearningbook.org. Karpathy (2019), A
    recipe for training neural networks, https://karpathy.github.io/2019/04/25/recipe/.
    """
    curve = features.curve("train/loss") or features.curve("val/loss")
    if features.is_reinforcement or curve is None or curve.n < 4 or median(curve.values[:3]) <= 0:
        raise api.CannotJudge("needs a loss that begins above zero")
    state = measured_state(curve, [api.accuracy(features, split) for split in ("train/", "val/")])
    if state.late > slow or held_out_is_worse(features, state, gap):
        return
    kind = no_progress(features, state, nothing)
    if kind is None and curve.n >= long and not still_falls(state, goes_on):
        kind = kind_of_level(state, run.setup.classes, little, scored, poor, chance)
    if kind:
        yield evidence(state, kind)


def measured_state(curve: Curve, accuracies: list[api.Floats | None]) -> State:
    """The loss, and the better of the accuracies. Noisy labels and augmentation lower that of training."""
    start, half = float(median(curve.values[:3])), curve.n // 2
    width = max(3, half // 4)
    middle = float(median(curve.values[half : half + width]))
    reach = skill = None
    known = [values for values in accuracies if values is not None and len(values) > 1]
    # The accuracy that is logged later has already learned for an epoch, so take the lower one.
    begun = min((float(values[0]) for values in known), default=0.0)
    for values in known:
        end = float(median(values[-max(1, min(width, len(values) // 4)) :]))
        if reach is None or end > reach:
            reach, skill = end, (end - begun) / max(1 - begun, np.finfo(np.float64).eps)
    return State(
        curve, start, curve.end, 1 - curve.end / start, abs(middle - curve.end) / start, reach, skill
    )


def held_out_is_worse(features: Features, state: State, gap: float) -> bool:
    """Whether there is a gap to validation. Then the fit of the training data is not the problem."""
    val = features.curve("val/loss")
    return val is not None and state.curve is not val and val.end - state.end > gap * abs(state.end)


def still_falls(state: State, share: float) -> bool:
    """Whether the last half still makes a large part of the gain, beyond noise, so that nothing has leveled
    off."""
    late = api.slope(state.curve.as_loss[state.curve.n // 2 :])
    return bool(-late.change > share * (state.start - state.end) > 0 and late.z < -2)


def no_progress(features: Features, state: State, nothing: float) -> tuple[str, api.Severity] | None:
    """Whether neither loss improved: hardly less in training, and no better in validation."""
    val = features.curve("val/loss")
    if val is None or val is state.curve or val.n < HELD_OUT or not 0 <= state.progress < nothing:
        return None
    first, last = float(median(val.values[:3])), float(median(val.values[-max(3, val.n // 4) :]))
    return (
        ("nowhere", "medium") if last >= first and first > 0 and val.best > (1 - nothing) * first else None
    )


def kind_of_level(
    state: State,
    classes: int | None,
    little: float,
    scored: float,
    poor: float,
    chance: float,
    *,
    quarter: float = threshold(0.25, "of the answers", "convention", "most of them are ruled out"),
) -> tuple[str, api.Severity] | None:
    """Which of the first three forms on the page this is, if any, with its severity."""
    if state.accuracy is not None and state.skill is not None:
        if state.accuracy >= poor or state.skill >= 0.5:
            return None
        if state.progress < scored:
            return "score-poor", "medium"
    if state.end > state.start + 2 * chance * state.start + 3 * state.curve.noise:
        return "above-start", "medium"
    if classes is None or classes < 2:
        return None  # some k always fits, so the number of classes is not guessed here
    near = abs(state.start / np.log(classes) - 1) < 2 * chance
    fewer = np.exp(state.end - state.start)  # of many words, how often each occurs already says much
    return ("from-chance", "medium") if near and state.progress < little and fewer > quarter else None


def evidence(state: State, kind: tuple[str, api.Severity]) -> Evidence:
    aspect, severity = kind
    curve, last = state.curve, state.curve.step_at(state.curve.n - 1)
    points = [
        curve.point(0, state.start),
        curve.point(-1, state.end, state.start),
    ]
    if state.accuracy is not None:
        points.append(api.EvidencePoint("accuracy", last, state.accuracy))
    return Evidence(
        onset=curve.step_at(index_reaching(curve.trend, 0.5)),
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
