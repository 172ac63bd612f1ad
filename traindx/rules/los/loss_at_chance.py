"""LOS011: the loss sits at the level of a uniform guess."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.features.chance import chance_classes, chance_loss
from traindx.features.middle import median
from traindx.features.noise import robust_sigma
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.rule import Evidence, rule, threshold
from traindx.vocabulary.run import Run


@rule(
    code="LOS011",
    needs=("train/loss|val/loss",),
    min_points=6,
    severity="high",
    message="{name} ends at {level:.4g}: a uniform guess over {classes} classes scores ln {classes} = {chance:.4g}",
    follows=("loss-flat-from-start", "loss-plateaus", "loss-diverges", "learning-rate-is-zero"),
)
def loss_at_chance(
    run: Run,
    features: Features,
    *,
    near: float = threshold(
        0.01,
        "of ln k",
        basis="measured",
        source="fault catalogue 3, 14, 30-36",
    ),
    steady: float = threshold(0.02, "of the level", basis="convention", source="a level that holds"),
    far: float = threshold(1.25, "x chance", basis="convention", source="a sane net starts within a quarter of ln k"),
    stretch: float = threshold(0.3, "of the run", basis="convention", source="the last third must be there"),
    better: float = threshold(1.5, "x chance accuracy", basis="convention", source="something is learned"),
) -> Iterator[Evidence]:
    """The final level is that of a classifier which knows nothing.

    ## What it sees
    The last third of the run scatters tightly around ln k for a known number of classes, or for one that is common.
    An accuracy clearly above 1/k overrules it.

    ## Why it matters
    The outputs do not depend on the inputs: whatever fell before, the run now predicts nothing.

    ## When it is wrong
    A loss of another kind may pass through or rest at such a number; with the number of classes given
    (`--fact classes=10`) chance is no longer guessed.

    ## What to try
    Train on one batch; blank the inputs and compare; check that gradients reach the first layer.

    ## Sources
    Theory (entropy of the uniform distribution); requirements (initial loss against ln k).
    """
    name = "train/loss" if features.curve("train/loss") is not None else "val/loss"
    curve = features.curve(name)
    assert curve is not None
    tail = curve.values[-max(3, int(stretch * curve.n)) :]
    level = float(median(tail))
    classes = chance_classes(level, run.setup.classes, tolerance=near)
    if classes is None or robust_sigma(tail) > steady * level or knows_better(features, classes, better):
        return
    if moves(tail, steady * level):
        return
    onset = first_at(curve.values, level, steady)
    # A guessed number of classes is only believed where the run never knew more than chance: a loss that
    # came from far above may rest anywhere.
    known = run.setup.classes is not None or curve.start < far * level or guesses(features, classes, near)
    yield Evidence(
        onset=curve.step_at(onset),
        last=float(curve.steps[-1]),
        strength=1.0 if run.setup.classes else 0.5,
        severity=None if known else "info",
        aspects=("known-classes",) if run.setup.classes else (),
        values={"name": name, "level": level, "classes": classes, "chance": chance_loss(classes)},
        points=(EvidencePoint(name, float(curve.steps[-1]), level, chance_loss(classes), "nats"),),
    )


def moves(tail: np.ndarray, bound: float) -> bool:
    """Whether a level is still on its way, perhaps down past ln k: its first and last third differ."""
    third = len(tail) // 3 + 1
    return abs(float(median(tail[:third])) - float(median(tail[-third:]))) > bound


def knows_better(features: Features, classes: int, factor: float) -> bool:
    """Whether an accuracy shows that more than chance is known."""
    for name in ("train/accuracy", "val/accuracy"):
        curve = features.curve(name)
        if (
            curve is not None
            and curve.n
            and float(median(curve.values[-3:])) > min(factor / classes, 0.5 * (1 + 1 / classes))
        ):
            return True
    return False


def guesses(features: Features, classes: int, near: float) -> bool:
    """Whether an accuracy on training or held-out data is that of a guess, 1/k."""
    for name in ("train/accuracy", "val/accuracy"):
        curve = features.curve(name)
        if curve is not None and curve.n:
            usual = float(median(curve.values[-3:]))
            if abs(usual - 1 / classes) < 1 / (4 * classes) + near:
                return True
    return False


def first_at(values: np.ndarray, level: float, steady: float) -> int:
    """Index from which on the values stay within three times the tolerance of the level."""
    away = np.flatnonzero(np.abs(values - level) > 3 * steady * level)
    return int(away[-1]) + 1 if len(away) else 0
