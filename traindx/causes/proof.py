"""What has to be there before a run is called sick though no rule found anything grave."""

from __future__ import annotations

from traindx.features.shared import Features
from traindx.features.yardstick import beside
from traindx.vocabulary.diagnosis import Hypothesis
from traindx.vocabulary.rule import threshold
from traindx.vocabulary.run import Run


def accused(
    leading: Hypothesis,
    *,
    least: float = threshold(1.0, "log-odds", basis="measured", source="gym: faults without a finding have one"),
) -> bool:
    """Whether one sign at least speaks plainly for the leading cause: many faint ones condemn no run."""
    return any(term.log_odds >= least for term in leading.for_)


def learns_well(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(0.98, "of what simple predictors gain", basis="theory", source="as good, or better"),
) -> bool:
    """Whether the net answers its samples as well as simple predictors that were fitted on them, or better."""
    if features.is_game:
        return False
    told = (beside(run, features), beside(run, features, "val/accuracy"))
    return any(found is not None and found.share >= beyond for found in told)
