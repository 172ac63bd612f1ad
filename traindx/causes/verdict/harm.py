"""Whether a run is harmed. A cause without harm is only a note, however probable it is."""

from __future__ import annotations

from traindx.features.comparisons.predictor_gap import predictor_gap
from traindx.features.curves.progress import is_learning
from traindx.features.curves.score_scales import late
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run

# These cost only time, which is harm only on an accelerator that somebody pays for.
FOR_NOTHING = frozenset({"data-loader-bottleneck", "step-time-creep", "device-fallback"})
SLOW = "SYS"
KEPT = frozenset({"memory-grows", "out-of-memory"})  # these end a run on any device
OWN_SCORES = ("outputs_accuracy", "outputs_explained")  # on the training batches


def accused(
    leading: Hypothesis,
    *,
    least: float = threshold(
        1.0, "log-odds", basis="measured", source="gym: faults without a finding have one such sign"
    ),
) -> bool:
    """Whether at least one sign is strong evidence for the leading cause: many weak ones are not enough."""
    return any(term.log_odds >= least for term in leading.for_)


def is_wasted(run: Run) -> bool:
    """Whether lost time costs little: a recording on the CPU alone."""
    return bool(run.panels) and run.setup.word("device").startswith("cpu")


def works(run: Run, features: Features) -> bool:
    """Whether the model does its task, as far as the run shows: by its scores compared with simple
    predictors, or by its loss where there are none. True where no number of this kind of training shows
    it."""
    if features.loss_is_no_score or is_good(features):
        return True
    well = learns_well(run, features)
    return is_learning(features) is True if well is None else well


def learns_well(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        0.98, "of the gain of simple predictors", basis="theory", source="as good, or better"
    ),
) -> bool | None:
    """Whether the model is at least as good as simple predictors fitted on the same samples; None where
    there are none to compare with."""
    if features.is_game:
        return None
    gains = [
        b
        for b in (predictor_gap(run, features), predictor_gap(run, features, "val/accuracy"))
        if b is not None
    ]
    return any(gain.share >= beyond for gain in gains) if gains else None


def is_good(
    features: Features,
    *,
    good: float = threshold(0.9, "of the way to perfect", basis="convention", source="a useful result"),
) -> bool:
    """Whether nearly all of its outputs are right at the end."""
    curves = (features.curve(name) for name in OWN_SCORES)
    return any(c is not None and c.n > 0 and late(c) >= good for c in curves)
