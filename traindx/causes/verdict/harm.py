"""Whether there is harm: a cause without any is a note, however probable it is."""

from __future__ import annotations

from traindx.features.comparisons.predictor_gap import beside
from traindx.features.curves.progress import is_learning
from traindx.features.curves.score_scales import late
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run

# What costs time, and no more: harm to whom pays for an accelerator.
FOR_NOTHING = frozenset({"data-loader-bottleneck", "step-time-creep", "device-fallback"})
SLOW = "SYS"
KEPT = frozenset({"memory-grows", "out-of-memory"})  # of that family, what ends a run on any device
OWN_SCORES = ("outputs_accuracy", "outputs_explained")  # of the batches that it trained on


def accused(
    leading: Hypothesis,
    *,
    least: float = threshold(
        1.0, "log-odds", basis="measured", source="gym: faults without a finding have one"
    ),
) -> bool:
    """Whether one sign at least speaks plainly for the leading cause: many faint ones condemn no run."""
    return any(term.log_odds >= least for term in leading.for_)


def is_wasted(run: Run) -> bool:
    """Whether time lost costs little: a recording on the processor alone."""
    return bool(run.panels) and run.setup.word("device").startswith("cpu")


def works(run: Run, features: Features) -> bool:
    """Whether it does what it is there for, as far as that can be seen: by its scores beside simple predictors, or,
    where there are none, by its loss; or no number of this kind of training says how well it goes, so that none
    speaks against it."""
    if features.loss_is_no_score or is_good(features):
        return True
    well = learns_well(run, features)
    return is_learning(features) is True if well is None else well


def learns_well(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.98, "of what simple predictors gain", basis="theory", source="as good, or better"
    ),
) -> bool | None:
    """Whether the net answers its samples as well as simple predictors that were fitted on them, or better; None where
    there are none to compare with."""
    if features.is_game:
        return None
    told = [b for b in (beside(run, features), beside(run, features, "val/accuracy")) if b is not None]
    return any(found.share >= beyond for found in told) if told else None


def is_good(
    features: Features,
    *,
    good: float = threshold(0.9, "of the way to perfect", basis="convention", source="a result of use"),
) -> bool:
    """Whether its answers are nearly all right in the end."""
    curves = (features.curve(name) for name in OWN_SCORES)
    return any(c is not None and c.n > 0 and late(c) >= good for c in curves)
