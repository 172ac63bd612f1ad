"""GEN006: several passes over the data, without any held-out signal."""

import re

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    np,
    rule,
    threshold,
)

HELD_OUT = {
    "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev", "heldout", "holdout", "ap", "map",
    "miou",
}  # fmt: skip
ADVERSARIAL = {"d", "g", "gen", "disc", "generator", "discriminator", "critic", "adv", "adversarial", "gan"}


@rule(
    code="GEN006",
    needs=("objective",),
    min_points=4,
    severity="info",
    message="no held-out signal in {passes:.3g} passes over the data: whether the run generalizes cannot be told",
)
def validation_missing(
    run: Run,
    features: Features,
    *,
    passes: float = threshold(2.0, "passes over the data", "theory", "data seen once are not memorized"),
    learned: float = threshold(3.0, "x the objective's noise", "theory", "3 sigma"),
) -> Iterator[Evidence]:
    """Nothing in the log was measured on held-out data, though the training data were seen more than once.

    ## What it sees
    No signal under `val/` and none whose name speaks of a test or evaluation, in a supervised run of two or
    more epochs whose objective has improved.

    ## Why it matters
    A falling training loss is all that memorization shows, too.

    ## When it is wrong
    Validation may be logged elsewhere, by another process. Reinforcement learning and adversarial training
    are left out: their losses are no measure of success. A run that does not learn has other worries.

    ## What to try
    Hold out a few percent of the data and log the same loss on it, in evaluation mode.

    ## Sources
    Prechelt, "Early Stopping - But When?" (1998); scikit-learn user guide 3.1 (cross-validation).
    """
    objective = features.needed_curve("objective")
    names = {word for name in run.series for word in re.split(r"[^a-z0-9]+", name.lower())}
    if features.is_reinforcement or names & HELD_OUT or names & ADVERSARIAL or not objective.n:
        return
    seen = passes_over_data(run, features)
    if seen is None:
        raise CannotJudge(
            "needs the number of passes over the data (epoch): data seen once are not learned by heart"
        )
    if seen >= passes and objective.oriented[0] - objective.end > learned * objective.noise:
        last = objective.step_at(objective.n - 1)
        yield Evidence(
            last=last,
            values={"passes": seen},
            points=(
                EvidencePoint(
                    objective.name, last, float(objective.values[-1]), unit="without a held-out value"
                ),
            ),
        )


def passes_over_data(run: Run, features: Features) -> float | None:
    """How often the data were seen, where the log says it: by its epoch, or by its steps if these are epochs."""
    epoch = features.curve("epoch")
    if epoch is not None and epoch.n and epoch.values.max() > 0:
        return float(np.round(epoch.values.max(), 1))
    if run.axis == "epoch" and run.last_step is not None and run.first_step is not None:
        return run.last_step - run.first_step + 1
    return None
