"""GEN006 validation-missing."""

import re

from traindx.rules.api import CannotJudge, Curve, Evidence, Features, Iterator, Run, api, np, rule, threshold

HELD_OUT = {
    "val", "valid", "validation", "eval", "evaluation", "test", "testing", "dev", "heldout", "holdout",
    "ap", "map", "miou",
}  # fmt: skip
ADVERSARIAL = {"d", "g", "gen", "disc", "generator", "discriminator", "critic", "adv", "adversarial", "gan"}


@rule(
    code="GEN006",
    needs=("objective",),
    min_points=4,
    severity="info",
    message="no validation metric in {passes:.3g} epochs, so the log does not show whether the run "
    "generalizes",
)
def validation_missing(
    run: Run,
    features: Features,
    *,
    passes: float = threshold(2.0, "passes over the data", "theory", "data seen once are not memorized"),
    learned: float = threshold(3.0, "x the objective's noise", "theory", "3 sigma"),
    copies: float = threshold(5, "points", "convention", "fewer equal prints may be rounding"),
) -> Iterator[Evidence]:
    """The training data were seen several times, but nothing was measured on validation data.

    ## What it sees
    A supervised run of two or more epochs whose objective improved. It has no signal below `val/`, and none
    whose name contains a word for a test or an evaluation. Or a validation loss that equals the training loss in
    every one of 5 points or more: the training data were measured twice. That is low, the rest a note.

    ## Why it matters
    Memorization lowers the training loss too. Only validation data show whether the run generalizes.

    ## When it is wrong
    Validation may be logged elsewhere, by another process. Reinforcement learning and adversarial training
    are left out, because their losses do not measure success. A run that does not learn has other problems
    first.

    ## What to try
    Keep a few percent of the data for validation, and log the same loss on it in evaluation mode.

    ## Sources
    Prechelt (1998), Early stopping - but when?, doi:10.1007/3-540-49430-8_3. scikit-learn user guide,
    cross-validation: https://scikit-learn.org/stable/modules/cross_validation.html.
    """
    objective = features.needed_curve("objective")
    training, held_out = features.curve("train/loss"), features.curve("val/loss")
    if training is not None and held_out is not None and is_copy(training, held_out, copies):
        known = "so nothing shows whether the run generalizes"
        text, point = (
            f"val/loss equals train/loss in all of its {held_out.n} points, {known}",
            held_out.point(-1),
        )
        yield Evidence(last=point.step, severity="low", aspects=("copied",), message=text, points=(point,))
    names = {word for name in run.series for word in re.split(r"[^a-z0-9]+", name.lower())}
    if features.is_reinforcement or names & HELD_OUT or names & ADVERSARIAL or not objective.n:
        return
    seen = passes_over_data(run, features)
    if seen is None:
        raise CannotJudge("needs the number of epochs, because data that are seen once are not memorized")
    if seen >= passes and objective.as_loss[0] - objective.end > learned * objective.noise:
        last = objective.step_at(objective.n - 1)
        yield Evidence(
            last=last,
            values={"passes": seen},
            points=(
                api.EvidencePoint(
                    objective.name, last, float(objective.values[-1]), unit="without a held-out value"
                ),
            ),
        )


def is_copy(training: Curve, held_out: Curve, least: float) -> bool:
    """Whether both losses have the same values at the same steps, and move."""
    return bool(
        held_out.n >= least
        and np.array_equal(training.steps, held_out.steps)
        and np.array_equal(training.values, held_out.values)
        and np.ptp(training.values) > 0
    )


def passes_over_data(run: Run, features: Features) -> float | None:
    """How often the data were seen, from the epoch of the log, or from its steps if these are epochs."""
    epoch = features.curve("epoch")
    if epoch is not None and epoch.n and epoch.values.max() > 0:
        return float(np.round(epoch.values.max(), 1))
    if run.axis == "epoch" and run.last_step is not None and run.first_step is not None:
        return run.last_step - run.first_step + 1
    return None
