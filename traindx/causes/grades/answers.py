"""Measures behind the grades that the outputs of training batches give, whatever the loss is."""

from __future__ import annotations

import numpy as np

from traindx.features.comparisons import predictor_gap
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run

LEAST = 3  # rows below which a level is chance
TINY = 1e-12  # keeps quotients finite


CLASSED = ("cross_entropy", "nll_loss", "binary_cross_entropy", "multi_margin", "multilabel", "margin")


def is_language(
    run: Run,
    *,
    alike: float = threshold(
        0.8, "of the larger vocabulary", basis="convention", source="inputs and labels are the same"
    ),
) -> bool:
    """Whether tokens are predicted from tokens: of which text leaves most open, however good the model."""
    told, wanted = run.setup.number("tokens_max"), run.setup.number("label_max")
    return bool(told and wanted and min(told, wanted) >= alike * max(told, wanted))


def answers_are_classes(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.02, "of the cross-entropy", basis="convention", source="rounding, a small penalty"
    ),
) -> bool:
    """Whether the outputs are class scores: the loss is one of those for classes, or equals their cross-entropy. What
    a hand-written loss is fed with may be embeddings, which answer nothing."""
    if features.is_game or is_language(run):
        return False
    unit = loss_unit(run, features)
    return any(name in run.setup.word("loss") for name in CLASSED) or (
        unit is not None and abs(unit - 1) < near
    )


def train_accuracy(run: Run, features: Features) -> float | None:
    told = predictor_gap.level(features, "outputs_accuracy") if answers_are_classes(run, features) else None
    return predictor_gap.level(features, "train/accuracy") if told is None else told


def train_skill(run: Run, features: Features) -> float | None:
    """Of training batches, between guessing (the commonest class, the mean) and perfect, late in the run."""
    explained = predictor_gap.level(features, "outputs_explained")
    if explained is not None:
        return explained
    accuracy = train_accuracy(run, features)
    majority = run.setup.number("class_majority_share")
    classes = run.setup.number("classes_seen") or run.setup.number("classes")
    usual = majority if majority is not None else 1 / classes if classes and classes > 1 else None
    if accuracy is None or usual is None or usual >= 1:
        return None
    return (accuracy - usual) / (1 - usual)


def train_learning(run: Run, features: Features) -> float | None:
    """What the last half of the run added to that skill."""
    answers = features.curve("outputs_accuracy") if answers_are_classes(run, features) else None
    curve = answers or features.curve("outputs_explained")
    if curve is None or curve.n < 4 * LEAST:
        return None
    middle = curve.values[curve.n // 2 - LEAST : curve.n // 2 + LEAST]
    return float(median(curve.values[-2 * LEAST :]) - median(middle))


def val_over_train(run: Run, features: Features) -> float | None:
    """Accuracy on validation data less that on training batches, late in the run."""
    train, val = train_accuracy(run, features), predictor_gap.level(features, "val/accuracy")
    return None if train is None or val is None else val - train


def contradicted(run: Run, features: Features) -> float | None:
    """Share of training labels that the outputs firmly contradict, late in the run."""
    return (
        predictor_gap.level(features, "outputs_contradict_share")
        if answers_are_classes(run, features)
        else None
    )


def same_answer(run: Run, features: Features) -> float | None:
    """Share of the commonest answer against the commonest label's."""
    said, true = (
        predictor_gap.level(features, "outputs_majority_share"),
        run.setup.number("class_majority_share"),
    )
    if features.is_game:
        return None
    return None if said is None or not true or true >= 1 else (said - true) / (1 - true)


def val_same_answer(run: Run, features: Features) -> float | None:
    said = predictor_gap.level(features, "val_outputs_majority_share")
    true = run.setup.number("val_class_majority_share") or run.setup.number("class_majority_share")
    return None if said is None or not true or true >= 1 else (said - true) / (1 - true)


def loss_unit(run: Run, features: Features) -> float | None:
    """The loss over the cross-entropy of the outputs: 1 where the loss is that, its factor where it is scaled."""
    loss, entropy = features.curve("train/loss"), features.curve("outputs_cross_entropy")
    width, highest = run.setup.number("outputs_width"), run.setup.number("label_max")
    embeds = width is not None and width > 1 and highest is not None and highest + 1 < width
    several = (
        run.setup.number("targets_features") or 1
    ) > 1  # then a loss may be summed over what a sample has
    if loss is None or entropy is None or entropy.n < LEAST or embeds or several:
        return None
    at = np.searchsorted(loss.steps, entropy.steps)
    beside = at < loss.n
    beside[beside] &= loss.steps[at[beside]] == entropy.steps[beside]
    if beside.sum() < LEAST:
        return None
    return float(median(loss.values[at[beside]] / np.maximum(entropy.values[beside], TINY)))


def rounded_to(run: Run, features: Features) -> str | None:
    """The number format that all gradients were rounded to."""
    told = run.setup.word("gradients_rounded_to")
    return next((kind for kind in ("bfloat16", "float16") if kind in told.split()), None) if told else None


def broken_first(
    run: Run,
    features: Features,
    *,
    ahead: float = threshold(
        0.5, "steps", basis="theory", source="a gradient breaks the loss of the next step"
    ),
) -> str | None:
    """Whether the gradient or the loss was the first that was not finite."""
    gradient = run.setup.number("nonfinite_first_step/grad_norm")
    loss = run.setup.number("nonfinite_first_step/train/loss")
    if gradient is None and loss is None:
        return None
    if loss is None or (gradient is not None and loss - gradient > ahead):
        return "gradient"
    return "loss"


def beside_simple(run: Run, features: Features) -> float | None:
    """What the net has gained over the trivial answer, of what simple predictors on its own samples gain."""
    found = predictor_gap.beside(run, features) if not features.is_game else None
    return None if found is None else found.share


def val_beside_simple(run: Run, features: Features) -> float | None:
    """The same of the accuracy on validation data."""
    found = predictor_gap.beside(run, features, "val/accuracy") if not features.is_game else None
    return None if found is None else found.share


def simple_solves(run: Run, features: Features) -> float | None:
    """How far simple predictors come, between the trivial answer and perfect: what the data give away."""
    for kind in ("accuracy", "explained"):
        trivial, *others = (
            run.setup.number(f"reference_{n}_{kind}") for n in ("trivial", "linear", "neighbours")
        )
        known = [other for other in others if other is not None]
        if trivial is not None and known and trivial < 1:
            return (max(known) - trivial) / (1 - trivial)
    return None
