"""GEN009 metric-constant-or-impossible."""

from collections.abc import Mapping
from itertools import chain, islice

from traindx.features.adversarial import player_of
from traindx.rules.api import (
    EXTREMES,
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    is_late,
    is_too_short,
    np,
    rule,
    scale_of,
    scores,
    threshold,
    words_of,
)

SOME, PERCENT = 5, 100  # points that distinguish shares from percentages
TOTALS = ("train/loss", "val/loss")
RANKS = frozenset({"auc", "auroc", "rocauc", "auprc", "aucpr", "prauc", "roc", "pr"})


@rule(
    code="GEN009",
    needs=("train/*|val/*",),
    min_points=1,
    severity="medium",
    persistence="steady",
    message="{name} is exactly {value:.6g} in all of its {count} points",
    follows=("loss-at-chance", "loss-flat-from-start", "learning-rate-is-zero", "parameters-never-change"),
)
def metric_constant_or_impossible(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "points", "measured", "three equal prints happen by chance"),
    fell: float = threshold(0.1, "of the first loss", "convention", "no higher loss falls to 0 at once"),
    absurd: float = threshold(1e18, "loss", "theory", "its square overflows single precision"),
    below: float = threshold(2.0, "x the first loss, under 0", "convention", "no entropy is negative"),
    slack: float = threshold(1e-4, "of the scale", "convention", "rounding"),
    epochs: float = threshold(5, "epochs", "convention", "detectors score 0 in their first epochs"),
    steps: float = threshold(1e4, "steps", "convention", "the same if epochs are not logged"),
) -> Iterator[Evidence]:
    """A metric repeats one value, is exactly zero, or has a value that it cannot have.

    ## What it sees
    Losses, perplexities and scores with a scale (accuracy, AUC, F1, mAP, BLEU, error rates ...). Reported
    are:

    - a metric that repeats one value in four points or more (an error rate of 1: three), and not the perfect
      one, while no other score moves, or repeats it in all but the first twentieth of 20 points or more without
      having improved much;
    - a loss that falls to exactly 0 from one point to the next and stays there, or that is 0 while another
      loss is not;
    - two parts of a loss that are 0 throughout;
    - an impossible value: a share above 1 or below 0, a perplexity below 1, a loss above 1e18 (unless only the first
      values are), a loss that keeps falling below 0 in a run that logs an accuracy.

    ## Why it matters
    A constant metric is computed from something that does not change: one prediction for all, masked labels,
    an empty set, code that is not reached. An impossible one is computed wrongly. A checkpoint that is
    chosen by it is chosen at random.

    ## When it is wrong
    A metric that is computed rarely and printed in between.
    Detectors that score 0 in their first epochs (not reported before the fifth). Scores of fewer than 100
    steps (not reported).

    ## What to try
    Print the predictions for one batch, and compute the metric by hand.

    ## Sources
    scikit-learn user guide, metrics and scoring:
    https://scikit-learn.org/stable/modules/model_evaluation.html.
    """
    whole = set(TOTALS) & set(run.series)
    if not whole and not features.is_reinforcement and (found := no_parts(features, least)):
        yield found
        return
    seen = [c for c in judged_curves(features) if c.n]
    if not seen:
        raise CannotJudge("needs a loss or a score with finite values")
    for curve in seen:
        if text := describe_impossible(curve, absurd, slack):
            aspects = ("impossible",) if curve.name.endswith("loss") else ("impossible", "off-scale")
            yield evidence(curve, text, "high", aspects)
            return
    late = is_late(features, epochs, steps)
    enough = [c for c in seen if c.n >= least or (c.n >= least - 1 and nothing_right(c))]
    settled = [c for c in enough if np.all(np.isfinite(c.raw.values[-int(least) :]))]
    faults = (
        fault for curve in settled for fault in stuck_evidence(run, features, curve, (least, fell), late)
    )
    yield from islice(chain(below_zero(features, below), faults), 1)


def stuck_evidence(
    run: Run, features: Features, curve: Curve, bounds: tuple[float, float], late: bool
) -> Iterator[Evidence]:
    """What is wrong with a curve that does not move any more, the most certain fault first."""
    least, fell = bounds
    total = curve.name in TOTALS
    if total and not features.is_reinforcement:  # the loss of an agent is about 0 by construction
        yield from zeros(features, curve, least)
    if vanishes_at_once(curve, fell):
        text = f"{curve.name} falls to exactly 0 from one point to the next and stays there"
        if other := learns_beyond(features, curve):
            text += f", although {other} goes on improving: the loss was not computed"
        yield evidence(curve, text, "low" if other else "high", ("uncomputed" if other else "zero",))
    same = repeats(curve)
    if not same or predictions_change(features, curve) or is_constant_part(features, curve):
        return
    marks = ("said", "trained" if curve.name.startswith("train/") else "held-out")
    asked = not total and "metric-constant-or-impossible" in run.setup.word("symptoms").split(",")
    if asked or ((late or curve.values[-1] != 0) and (total or not is_too_short(run))):
        value = float(curve.values[-1])
        ending = (
            None if same == curve.n else f"{curve.name} is exactly {value:.6g} in its last {same} points"
        )
        values = {"name": curve.name, "value": value, "count": curve.n}
        aspects = ("constant", "loss") if total else ("constant", *marks[: 2 * asked])
        yield evidence(curve, ending, None, aspects, values)


def is_constant_part(features: Features, curve: Curve) -> bool:
    """Whether another loss of the split moves, so that a constant one is a term that does not depend on the
    predictions (of weights that are frozen, or a penalty)."""
    one_of_two = features.is_duel and player_of(curve.name) != ""
    if curve.name in TOTALS or one_of_two or not curve.name.endswith("loss") or not np.any(curve.values):
        return False
    split = curve.name[: curve.name.find("/") + 1]
    losses = (c for c in judged_curves(features) if c.name.startswith(split) and c.name.endswith("loss"))
    return any(c.n and np.ptp(c.values) for c in losses)


def predictions_change(features: Features, curve: Curve) -> bool:
    """Whether another score of the split moves, so that the predictions do. Then a constant one is a setting
    (the IoU of a detector's suppression) or a share of few samples. A rank, such as the AUC, moves although
    every sample gets one class; a score of 0 says that one kind of answer is never right."""
    split = curve.name[: curve.name.find("/") + 1]
    others = (c for c in scores(features, split, 2) if not words_of(c.name) & RANKS)
    moving = (c for c in others if c.name != curve.name and np.ptp(c.values))
    return bool(curve.values[-1] != 0 and any(moving))


def zeros(features: Features, curve: Curve, least: float) -> Iterator[Evidence]:
    """The evidence of a loss that is 0 throughout, or of parts of it that are. Where the scores move, the loss
    was just not computed: nothing is lost but the column."""
    if not np.any(curve.values):
        computed = not any(np.ptp(c.values) for c in scores(features, curve.name.split("/")[0] + "/", 2))
        text = f"{curve.name} is exactly 0 in all of its {curve.n} points"
        training = features.curve("train/loss") if curve.name == "val/loss" else None
        empty = training is not None and training.n > 0 and training.end > 0
        text += ": the validation set is empty or has no labels" * empty
        yield evidence(curve, text, "medium" if computed else "low", ("empty" if empty else "zero",))
    elif found := no_parts(features, least):
        yield found


def no_parts(features: Features, least: float) -> Evidence | None:
    """The evidence of parts of the training loss that are 0 throughout (a single one may have no weight, or a
    single class)."""
    named = [n for n in features.run.series if n.startswith("train/") and "loss" in n and n not in TOTALS]
    parts = [c for n in named if (c := features.curve(n)) is not None and c.n >= least]
    empty = [c for c in parts if not np.any(c.values)]
    if len(empty) < 2:
        return None
    both = f"{empty[0].name} and {empty[1].name}"
    text = f"{both} are exactly 0 in all of their points, so nothing is learned for them"
    return evidence(empty[0], text, "medium", ("parts",))


def judged_curves(features: Features) -> Iterator[Curve]:
    """Losses (the totals first) and scores, without running extremes."""
    names = [n for n in features.run.series if n.startswith(("train/", "val/"))]
    losses = [n for n in names if n.endswith("loss") and not words_of(n) & EXTREMES]
    for name in sorted(losses, key=lambda n: (n not in ("train/loss", "val/loss"), n)):
        if (curve := features.curve(name)) is not None:
            yield curve
    for split in ("val/", "train/"):
        yield from scores(features, split, 1)


def describe_impossible(curve: Curve, absurd: float, slack: float) -> str:
    """A sentence about a value that the metric cannot have ("" if there is none)."""
    low, high = float(curve.values.min()), float(curve.values.max())
    if curve.name.endswith("loss"):
        above = curve.values > absurd
        left = int(
            np.argmin(above)
        )  # a function that is minimized from far away begins above, and leaves it
        stays = above.all() or above[left:].any()
        return f"{curve.name} is {high:.4g}, which is too large for a loss" if stays else ""
    scale = scale_of(curve.name, curve.values)
    if scale is None:
        return ""
    size = abs(scale.perfect) or 1.0
    within = (curve.values >= scale.low) & (curve.values <= scale.high)
    if not within.any() or (curve.n < SOME and high <= PERCENT):
        return ""  # another quantity with a similar name, or a percentage in few points
    for value, beyond in ((high, high > scale.high + slack * size), (low, low < scale.low - slack * size)):
        if beyond:
            return f"{curve.name} is {value:.6g}, outside of its scale from {scale.low:g} to {scale.high:g}"
    return ""


def below_zero(features: Features, times: float) -> Iterator[Evidence]:
    """The loss of a classifier (an accuracy is logged) that keeps falling below zero. A cosine or a margin
    loss would level off."""
    accuracies = [features.curve(s + "accuracy") for s in ("train/", "val/")]
    if features.is_reinforcement or not any(c is not None and c.n for c in accuracies):
        return
    for curve in (c for n in TOTALS if (c := features.curve(n)) is not None and c.n >= 4):
        middle = float(curve.values[curve.n // 2])
        goes_on = middle - curve.end >= (curve.start - middle) / 2 > 0
        if curve.end < -times * abs(curve.start) and goes_on:
            known = "although an accuracy is logged, and no cross-entropy is below 0"
            text = f"{curve.name} falls to {curve.end:.4g} {known}"
            yield evidence(curve, text, "high", ("impossible", "below-zero"))


def vanishes_at_once(curve: Curve, fell: float) -> bool:
    """Whether a loss falls from a large part of its first value to exactly 0 in one step, and stays there. A
    hinge loss is 0 for some batches from early on, and a loss that is printed with few digits comes near 0 before."""
    moving = np.flatnonzero(curve.values)
    if not curve.name.endswith("loss") or len(moving) == 0 or curve.n - len(moving) < 3:
        return False
    last = int(moving[-1])
    return len(moving) == last + 1 and float(curve.values[last]) > fell * abs(curve.start)


def learns_beyond(
    features: Features,
    curve: Curve,
    *,
    better: float = threshold(0.9, "of the value there", "convention", "a fall that is seen in a plot"),
) -> str:
    """The validation loss, or a metric that began with the value of this loss, if it improves after the last value of
    `curve` that is not 0: a model without a loss does not learn. "" if there is none."""
    zero = curve.step_at(int(np.flatnonzero(curve.values)[-1]) + 1)
    split = curve.name.split("/")[0] + "/"
    for name in ["val/loss", *(n for n in features.run.series if n.startswith(split) and n != curve.name)]:
        other = features.curve(name)
        if other is None or other.n < 3 or not (name == "val/loss" or other.values[0] == curve.values[0]):
            continue
        after = other.values[other.steps >= zero]
        if len(after) > 1 and 0 < after[-1] < better * after[0]:
            return name
    return ""


def nothing_right(curve: Curve) -> bool:
    """Whether an error rate says in every point that no answer is right."""
    scale = scale_of(curve.name, curve.values)
    return scale is not None and scale.perfect == 0 and bool(np.all(curve.values == scale.nothing))


def repeats(
    curve: Curve,
    *,
    nearly: float = threshold(0.95, "of the points", "convention", "all but the first epochs"),
    enough: float = threshold(20, "points", "convention", "of fewer, one is 5 %"),
    little: float = threshold(0.2, "of the way to perfect", "convention", "less was hardly learned"),
) -> int:
    """How many of the last values are the same, and not the perfect one: 0 unless all are, or all but the first few
    from where the score hardly rose."""
    scale = scale_of(curve.name, curve.values)
    value, first = float(curve.values[-1]), float(curve.values[0])
    same = trailing(curve)
    if value == (0 if scale is None else scale.perfect):
        return 0
    if same == curve.n:
        return same
    risen = 1.0 if scale is None else abs(value - first) / (abs(scale.perfect - first) or 1.0)
    return same if curve.n >= enough and same >= nearly * curve.n and risen < little else 0


def trailing(curve: Curve) -> int:
    """How many of the last values are the same."""
    other = np.flatnonzero(curve.values != curve.values[-1])
    return curve.n if len(other) == 0 else curve.n - 1 - int(other[-1])


def evidence(
    curve: Curve,
    text: str | None,
    severity: object,
    aspects: tuple[str, ...],
    values: Mapping[str, object] | None = None,
) -> Evidence:
    last = float(curve.steps[-1])
    return Evidence(
        onset=float(curve.steps[0]),
        last=last,
        where=curve.name,
        severity=severity,  # type: ignore[arg-type]
        aspects=aspects,
        message=text,
        values=values or {},
        points=(EvidencePoint(curve.name, last, float(curve.values[-1])),),
    )
