"""Measures of the outputs of training batches behind the grades, whatever the loss is."""

from traindx.features.comparisons import predictor_gap
from traindx.features.comparisons.outputs_of_loss import is_language, loss_unit
from traindx.features.shared import Features, favours_rare_classes
from traindx.features.statistics import median
from traindx.vocabulary import Run, threshold

LEAST = 3  # fewer rows give no reliable level

CLASSED = ("cross_entropy", "nll_loss", "binary_cross_entropy", "multi_margin", "multilabel", "margin")


def answers_are_classes(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.02, "of the cross-entropy", basis="convention", source="rounding, a small penalty"
    ),
) -> bool:
    """Whether the outputs are class scores: the loss is one for classes, or equals their cross-entropy.
    The inputs of a custom loss may be embeddings, which are no predictions."""
    if features.is_game or is_language(run):
        return False
    unit = loss_unit(run, features)
    return any(name in run.setup.word("loss") for name in CLASSED) or (
        unit is not None and abs(unit - 1) < near
    )


def train_accuracy(run: Run, features: Features) -> float | None:
    measured = (
        predictor_gap.level(features, "outputs_accuracy") if answers_are_classes(run, features) else None
    )
    return predictor_gap.level(features, "train/accuracy") if measured is None else measured


def train_skill(run: Run, features: Features) -> float | None:
    """Skill on training batches late in the run: 0 for guessing, 1 for perfect."""
    explained = predictor_gap.level(features, "outputs_explained")
    if explained is not None:
        return explained
    accuracy = train_accuracy(run, features)
    majority = run.setup.number("class_majority_share")
    classes = run.setup.number("classes_seen") or run.setup.number("classes")
    usual = majority if majority is not None else 1 / classes if classes and classes > 1 else None
    if accuracy is None or usual is None or usual >= 1 or (accuracy < usual and favours_rare_classes(run)):
        return None
    return (accuracy - usual) / (1 - usual)


def train_learning(run: Run, features: Features) -> float | None:
    """How much the last half of the run added to that skill."""
    answers = features.curve("outputs_accuracy") if answers_are_classes(run, features) else None
    curve = answers or features.curve("outputs_explained")
    if curve is None or curve.n < 4 * LEAST:
        return None
    middle = curve.values[curve.n // 2 - LEAST : curve.n // 2 + LEAST]
    return float(median(curve.values[-2 * LEAST :]) - median(middle))


def val_over_train(
    run: Run,
    features: Features,
    *,
    much: float = threshold(
        0.4, "of the units", basis="convention", source="as in validation-beats-training"
    ),
) -> float | None:
    """Validation accuracy minus training accuracy, late in the run; at most 0 where most of what training lacks is
    what dropout takes away."""
    train, val = train_accuracy(run, features), predictor_gap.level(features, "val/accuracy")
    if train is None or val is None:
        return None
    dropped = (run.setup.number("dropout") or 0.0) >= much
    return min(val - train, 0.0) if dropped else val - train


def contradicted(run: Run, features: Features) -> float | None:
    """Share of training labels that the outputs contradict with confidence, late in the run."""
    return (
        predictor_gap.level(features, "outputs_contradict_share")
        if answers_are_classes(run, features)
        else None
    )


def same_answer(run: Run, features: Features) -> float | None:
    """How far the share of the most common prediction exceeds that of the most common label."""
    predicted = None if features.is_game else predictor_gap.level(features, "outputs_majority_share")
    return excess(predicted, run.setup.number("class_majority_share"))


def val_same_answer(run: Run, features: Features) -> float | None:
    labelled = run.setup.number("val_class_majority_share") or run.setup.number("class_majority_share")
    return excess(predictor_gap.level(features, "val_outputs_majority_share"), labelled)


def excess(predicted: float | None, labelled: float | None) -> float | None:
    """0 where the share of predictions equals that of labels, 1 where all samples get one prediction."""
    if predicted is None or not labelled or labelled >= 1:
        return None
    return (predicted - labelled) / (1 - labelled)


def rounded_to(run: Run, features: Features) -> str | None:
    """The number format that all gradients were rounded to."""
    formats = run.setup.word("gradients_rounded_to").split()
    return next((kind for kind in ("bfloat16", "float16") if kind in formats), None)


def broken_first(
    run: Run,
    features: Features,
    *,
    ahead: float = threshold(
        0.5, "steps", basis="theory", source="a bad gradient breaks the loss of the next step"
    ),
) -> str | None:
    """Whether the gradient or the loss was not finite first."""
    gradient = run.setup.number("nonfinite_first_step/grad_norm")
    loss = run.setup.number("nonfinite_first_step/train/loss")
    if gradient is None and loss is None:
        return None
    if loss is None or (gradient is not None and loss - gradient > ahead):
        return "gradient"
    return "loss"


def compared_with_simple(run: Run, features: Features) -> float | None:
    """The gain of the model over the trivial prediction, as a share of the gain of simple predictors."""
    gain = predictor_gap.predictor_gap(run, features) if not features.is_game else None
    return None if gain is None else gain.share


def val_compared_with_simple(run: Run, features: Features) -> float | None:
    """The same for the accuracy on validation data."""
    gain = predictor_gap.predictor_gap(run, features, "val/accuracy") if not features.is_game else None
    return None if gain is None else gain.share


def simple_solves(run: Run, features: Features) -> float | None:
    """How good simple predictors are, from the trivial prediction to perfect: how easy the data are."""
    for kind in ("accuracy", "explained"):
        trivial, *others = (
            run.setup.number(f"reference_{n}_{kind}") for n in ("trivial", "linear", "neighbours")
        )
        known = [other for other in others if other is not None]
        if trivial is not None and known and trivial < 1:
            return (max(known) - trivial) / (1 - trivial)
    return None
