"""LOS011 loss-at-chance."""

from traindx.features.curves.chance_level import chance_classes, chance_loss
from traindx.features.curves.score_scales import is_late, late_median, scale_of, scores, skill
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, median, np, rule, threshold

MARGINS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, float(np.log(2)))
OF_LABELS = ("cross_entropy", "nll_loss")


@rule(
    code="LOS011",
    needs=("train/*|val/*",),
    min_points=3,
    severity="high",
    persistence="steady",
    message="the median of {name} at the end is {level:.4g}: guessing among {classes} classes gives ln "
    "{classes} = {chance:.4g}",
    follows=("loss-flat-from-start", "loss-plateaus", "loss-diverges", "learning-rate-is-zero"),
)
def loss_at_chance(
    run: Run,
    features: Features,
    *,
    near: float = threshold(0.01, "of ln k, k known", "measured", "broken training programs: within 1 %"),
    exact: float = threshold(0.003, "of ln k, k guessed", "theory", "four levels: 1 loss in 100 by chance"),
    steady: float = threshold(0.02, "of the level", "convention", "a level that holds"),
    stretch: float = threshold(0.3, "of the run", "convention", "the last third"),
    better: float = threshold(1.5, "x chance accuracy", "measured", "something is learned"),
    nothing: float = threshold(0.05, "of the way to perfect", "measured", "what rounding may hide"),
    epochs: float = threshold(5, "epochs", "convention", "detectors score 0 in their first epochs"),
    steps: float = threshold(1e4, "steps", "convention", "the same if epochs are not logged"),
) -> Iterator[Evidence]:
    """The loss, or a score, ends at the level of guessing.

    ## What it sees
    The last third of the run stays close to ln k for k classes: within 1 % if the number of classes is
    known. If it is not known, only ln 2, ln 10, ln 100 and ln 1000 are tried, and only within 0.3 %. An
    accuracy of 1.5 / k or more overrules it, and so do three logged parts of the loss. Scores are compared
    with their own value of guessing: an AUC of 0.5, a word error rate of 100 %, a BLEU, mAP, F1 or reward of
    0 late in the run.

    Also a triplet or contrastive loss, if the question names it, that stays at a usual margin.

    Also a cross-entropy of ten classes (or words) and more that falls to the entropy of the labels (3 % less to
    10 % more) and stays there: the model uses only how often each label occurs.

    ## Why it matters
    The outputs do not depend on the inputs. Whatever fell before, the model now predicts nothing.

    ## When it is wrong
    Another kind of loss may have that value by coincidence. With `--fact classes=10` the number of classes
    is not guessed. Detectors score 0 for some epochs before they find anything.

    ## What to try
    Overfit one batch. Replace the inputs by zeros and compare the loss. Check that gradients reach the first
    layer.

    ## Sources
    Karpathy (2019), A recipe for training neural networks ("verify loss @ init"),
    https://karpathy.github.io/2019/04/25/recipe/. A uniform guess over k classes has a cross-entropy of ln
    k.
    """
    yield from scores_know_nothing(
        features, run.setup.classes or classes_of_one_answer(features), nothing, epochs, steps
    )
    curve = loss_of_answers(features)
    if curve is None or curve.n < 3:
        return
    level = float(median(tail := curve.values[-max(3, int(stretch * curve.n)) :]))
    classes = run.setup.classes or guessed_by_accuracy(features, level, near)
    if run.setup.word("loss_kind"):
        return (yield from at_margin(curve, level))
    yield from frequencies_alone(curve, run, level)
    found = chance_classes(level, classes, tolerance=near if classes else exact)
    if found is None or api.robust_sigma(tail) > steady * level or knows_better(features, found, better):
        return
    early = curve.n < 2 * 3 and not is_late(features, epochs, steps) and not classes
    to_the_digit = run.axis == "epoch" and bool(np.abs(curve.values / level - 1).max() < exact / 3)
    if moves(tail, steady * level) or falls_below(curve.values, found, exact) or early > to_the_digit:
        return
    frozen = len(tail) > 2 and bool(np.ptp(tail) == 0) and curve.n > 2 * 4 and bool(np.ptp(curve.values) > 0)
    yield Evidence(
        onset=curve.step_at(first_at(curve.values, level, steady)),
        last=float(curve.steps[-1]),
        strength=1.0 if classes else 0.5,
        aspects=("known-classes",) * bool(run.setup.classes) + ("frozen",) * frozen,
        values={"name": curve.name, "level": level, "classes": found, "chance": chance_loss(found)},
        points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), level, chance_loss(found), "nats"),),
    )


def at_margin(
    curve: Curve,
    level: float,
    *,
    near: float = threshold(0.005, "of the margin", "convention", "rounding, and one triplet in 200"),
    least: float = threshold(4, "points", "convention", "fewer show no level"),
) -> Iterator[Evidence]:
    """The evidence of a triplet or contrastive loss that stays at a usual margin, or at ln 2 (a soft one): no distance
    is longer than another, as between embeddings that are all the same."""
    margin = next((m for m in MARGINS if abs(level / m - 1) <= near), None)
    tail = curve.values[-max(3, len(curve.values) // 2) :]
    if margin is None or curve.n < least or np.abs(tail / margin - 1).max() > near:
        return
    words = (
        "ln 2, which a soft margin" if margin == MARGINS[-1] else f"{margin:g}, which a margin of that size"
    )
    yield Evidence(
        onset=float(curve.steps[-len(tail)]),
        last=float(curve.steps[-1]),
        where=curve.name,
        aspects=("collapsed",),
        message=f"{curve.name} stays at {words} gives if all embeddings are the same point",
        points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), level, margin),),
    )


def loss_of_answers(features: Features) -> Curve | None:
    """The training loss, else the validation loss, where it may be one cross-entropy: not of agents or players, and
    not logged with three parts or more, whose sum is near ln k by coincidence."""
    curve = features.curve("train/loss") or features.curve("val/loss")
    preferences = "margin" in (features.objective_name or "")  # a guess between two answers
    if curve is None or features.is_game or (features.is_reinforcement and not preferences):
        return None
    split = curve.name.removesuffix("loss")
    parts = sum(n.startswith(split) and "loss" in n and n != curve.name for n in features.run.series)
    return curve if parts < 3 else None


def frequencies_alone(
    curve: Curve,
    run: Run,
    level: float,
    *,
    still: float = threshold(0.04, "of the level", "measured", "batches of 600 words differ by 2 %"),
    counted: float = threshold(0.97, "of the label entropy", "measured", "models that learn: below 0.9"),
    missed: float = threshold(1.1, "of the label entropy", "measured", "2,500 words, of 60,000 seen"),
    enough: float = threshold(24, "points", "convention", "fewer have no slope"),
    many: float = threshold(9, "highest label", "convention", "of few classes, little is left to learn"),
    fallen: float = threshold(1.1, "x the level", "convention", "else it is still the first guess"),
    share: float = threshold(0.1, "updates a label", "measured", "models of words learn frequencies first"),
) -> Iterator[Evidence]:
    """A cross-entropy that has fallen to the entropy of the labels, and stays there."""
    entropy, highest = (run.setup.number(name) or 0.0 for name in ("label_entropy", "label_max"))
    mean = run.setup.word("loss_reduction_seen") == "mean" and run.setup.word("loss_name") in OF_LABELS
    settled = not moves(curve.values[-(curve.n // 3) :], still * level)
    near = counted * entropy <= level <= missed * entropy and curve.values[0] >= fallen * level
    if mean and near and settled and highest >= many and curve.n >= max(enough, share * highest):
        last = float(curve.steps[-1])
        yield Evidence(
            onset=curve.step_at(2 * curve.n // 3),
            last=last,
            where=curve.name,
            aspects=("frequencies",),
            message=f"the median of {curve.name} at the end is {level:.4g}, and the labels have an entropy of "
            f"{entropy:.4g}: the model knows only how often each occurs",
            points=(api.EvidencePoint(curve.name, last, level, entropy, "nats"),),
        )


def falls_below(
    values: np.ndarray,
    classes: int,
    least: float,
    *,
    begun: float = threshold(0.1, "of the run", "convention", "the first loss may have any value"),
    enough: float = threshold(24, "points", "convention", "fewer have no slope"),
    clear: float = threshold(4.0, "x standard error", "theory", "the slope of all points is no noise"),
) -> bool:
    """Whether a loss is on its way down from chance: below it, and clearly falling by more than `least` of
    its level. The first tenth of the run, which may begin anywhere, is left out."""
    later = values[int(begun * len(values)) :]
    if len(later) < enough or float(median(later)) >= chance_loss(classes) * (1 - least):
        return False
    tilt = api.slope(later)
    return -tilt.change > max(clear * tilt.error, least * float(median(later)))


def scores_know_nothing(
    features: Features, classes: int | None, nothing: float, epochs: float, steps: float
) -> Iterator[Evidence]:
    """Every score of a split has the value of guessing."""
    for split in ("val/", "train/"):
        found = [c for c in scores(features, split, 3) if knowledge(c, classes) is not None]
        reward = features.curve(split + "reward")
        if not found and reward is not None and reward.n >= 3 and not np.any(reward.values):
            found = [reward]
        if not found or not is_late(features, epochs, steps):
            continue
        if split == "val/" and fits_training_only(features):
            continue
        if all((knowledge(c, classes) or 0.0) <= nothing for c in found):
            chosen = max(found, key=lambda c: c.n)
            yield evidence(chosen, max(accuracies(features), default=0.0), learned_from(features, chosen))
            return


def learned_from(
    features: Features,
    held: Curve,
    *,
    fallen: float = threshold(0.5, "of its first level", "convention", "the training data are learned"),
) -> str:
    """What is said of a training loss that has fallen far while a score on validation data is that of guessing."""
    curve = features.curve("train/loss") if held.name.startswith("val/") else None
    if (
        curve is None
        or features.is_reinforcement
        or curve.n < 3
        or not 0 <= curve.end < fallen * curve.start
    ):
        return ""
    return f", while train/loss fell from {curve.values[0]:.4g} to {curve.values[-1]:.4g}"


def fits_training_only(
    features: Features,
    *,
    apart: float = threshold(0.5, "of the scale", "convention", "the samples are memorized, not guessed"),
) -> bool:
    """Whether a score is far better on training data than on validation data: a gap, not a model that guesses."""
    for held in scores(features, "val/", 1):
        curve = features.curve(held.name.replace("val/", "train/"))
        scale = None if curve is None else scale_of(held.name, np.append(held.values, curve.values))
        if (
            curve is not None
            and scale is not None
            and late_median(curve) - late_median(held) > apart * scale.perfect > 0
        ):
            return True
    return False


def knowledge(curve: Curve, classes: int | None) -> float | None:
    """The last level of a score, from guessing (0) to perfect (1)."""
    scale = scale_of(curve.name, curve.values, classes)
    return None if scale is None else skill(late_median(curve), scale)


def evidence(
    curve: Curve,
    accuracy: float,
    learned: str,
    *,
    majority: float = threshold(
        0.6, "accuracy", "convention", "far from guessing between two equal classes"
    ),
) -> Evidence:
    """A score of guessing. With a high `accuracy` all samples get the most frequent class."""
    level, last = late_median(curve), float(curve.steps[-1])
    frequent = f", with an accuracy of {accuracy:.4g}: every sample gets the most frequent class"
    worse = "r2" in api.words_of(curve.name) and level < 0
    guesses = ", worse than always predicting the mean" if worse else ", the score of a model that guesses"
    rare = accuracy >= majority
    return Evidence(
        onset=float(curve.steps[0]),
        last=last,
        where=curve.name,
        strength=1.0 if curve.n > 2 * 4 else 0.5,
        aspects=("score", "rare-class") if rare else ("score",),
        message=f"the median of {curve.name} at the end is {level:.4g}"
        + (frequent if rare else guesses + learned),
        points=(curve.point(-1, level * curve.sign),),
    )


def moves(tail: np.ndarray, bound: float) -> bool:
    """Whether a level is still on its way, perhaps down past ln k: its first and last third differ."""
    third = len(tail) // 3 + 1
    return abs(float(median(tail[:third])) - float(median(tail[-third:]))) > bound


def knows_better(features: Features, classes: int, factor: float) -> bool:
    """Whether an accuracy shows that more than chance is known."""
    bar = min(factor / classes, 0.5 * (1 + 1 / classes))
    return any(usual > bar for usual in accuracies(features))


def guessed_by_accuracy(features: Features, level: float, near: float) -> int | None:
    """The number of classes k, if the loss is ln k and an accuracy is 1/k."""
    classes = chance_classes(level, None, tolerance=2 * near, among=None)
    if classes is None:
        return None
    agrees = any(abs(usual - 1 / classes) < 1 / (4 * classes) + near for usual in accuracies(features))
    return classes if agrees else None


def classes_of_one_answer(
    features: Features,
    *,
    least: float = threshold(4, "points", "convention", "fewer equal values are chance"),
    few: float = threshold(1000, "classes", "convention", "more make 1/k any number"),
    near: float = threshold(0.1, "of 1/k", "convention", "a batch has its own share of a class"),
    exact: float = threshold(1e-4, "accuracy", "convention", "as it is rounded in a log"),
) -> int | None:
    """The number of classes k, if a validation accuracy is 1/k each time, as it is where all samples of a balanced set
    get one answer, and the accuracy on training data is about as much."""
    held, trained = features.curve("val/accuracy"), features.curve("train/accuracy")
    if held is None or trained is None or held.n < least or np.ptp(held.values) or not held.values[0] > 0:
        return None
    scale = scale_of("accuracy", np.append(held.values, trained.values))
    share = float(held.values[0]) / (scale.perfect if scale is not None else 1.0)
    classes = round(1 / share)
    guesses = abs(float(median(trained.values / held.values[0])) - 1) <= near
    return classes if 2 <= classes <= few and abs(share - 1 / classes) < exact and guesses else None


def accuracies(features: Features) -> Iterator[float]:
    """The last level of each accuracy on training or validation data (also of one part of the answer, such as a
    detector's classes), as a share."""
    for curve in (c for split in ("train/", "val/") for c in scores(features, split, 1)):
        scale = scale_of(curve.name, curve.values)
        words = api.words_of(curve.name)
        if scale is not None and words & {"accuracy", "acc", "acc1", "top1"} and not words & {"5", "top5"}:
            yield float(median(curve.values[-3:])) / scale.perfect


def first_at(values: np.ndarray, level: float, steady: float) -> int:
    """Index from which on the values stay within three times the tolerance of the level."""
    away = np.flatnonzero(np.abs(values - level) > 3 * steady * level)
    return int(away[-1]) + 1 if len(away) else 0
