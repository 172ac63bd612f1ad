"""GEN006: a run long enough to overfit, without any held-out signal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.rule import Evidence, rule, threshold
from traindx.vocabulary.run import Run

HELD_OUT = {
    "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev", "heldout", "holdout", "ap", "map",
    "miou",
}  # fmt: skip
ADVERSARIAL = {"d", "g", "gen", "disc", "generator", "discriminator", "critic", "adv", "adversarial", "gan"}


@rule(
    code="GEN006",
    needs=("objective",),
    min_points=8,
    severity="info",
    message="no held-out signal in {points} points of {signal}: whether the run generalizes cannot be told",
)
def validation_missing(
    run: Run,
    features: Features,
    *,
    long: float = threshold(30, "points", basis="convention", source="as many as an epoch-wise log of a usual run"),
) -> Iterator[Evidence]:
    """Nothing in the log was measured on held-out data.

    What it sees: no signal under `val/` and none whose name speaks of a test or evaluation, in a supervised run
    that is long enough for overfitting to matter.
    Why it matters: a falling training loss is all that memorization shows, too.
    When it is wrong: validation may be logged elsewhere, by another process; one pass over endless data needs none.
    Reinforcement learning and adversarial training are left out: their losses are no measure of success.
    What to try: hold out a few percent of the data and log the same loss on it, in evaluation mode.
    Sources: Prechelt, "Early Stopping - But When?" (1998); scikit-learn user guide 3.1 (cross-validation).
    """
    objective = features.objective
    assert objective is not None  # the engine has checked
    names = {word for name in run.series for word in re.split(r"[^a-z0-9]+", name.lower())}
    if features.is_reinforcement or names & HELD_OUT or names & ADVERSARIAL:
        return
    if objective.n >= long:
        last = objective.step_at(objective.n - 1)
        yield Evidence(
            last=last,
            values={"points": objective.n, "signal": objective.name},
            points=(EvidencePoint(objective.name, last, float(objective.values[-1])),),
        )
