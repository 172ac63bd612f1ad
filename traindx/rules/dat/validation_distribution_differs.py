"""DAT011 validation-distribution-differs."""

from __future__ import annotations

from collections.abc import Iterator

from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import EvidencePoint
from traindx.vocabulary.rule import CannotJudge, Evidence, rule, threshold
from traindx.vocabulary.run import Run


@rule(
    code="DAT011",
    needs=("setup:val_inputs_shift",),
    min_points=1,
    severity="high",
    message="validation inputs lie {shift:.2g} spreads off those of training, with {ratio:.2g} times the spread",
)
def validation_distribution_differs(
    run: Run,
    features: Features,
    *,
    shift: float = threshold(
        1.0, "spreads", basis="measured", source="healthy: 0.1 at most (200 samples); a missing scaling: 20"
    ),
    ratio: float = threshold(
        3.0, "x the spread", basis="measured", source="healthy: 0.9 to 1.1; a missing scaling: 16"
    ),
    spoilt: float = threshold(0.002, "of the values", basis="measured", source="outliers: then they set the spread"),
) -> Iterator[Evidence]:
    """The inputs of validation have another scale or offset than those of training.

    What it sees: the mean distance between the features' means, in training spreads, and the ratio of the spreads.

    Why it matters: the net is asked about inputs unlike any it has learned from; validation says nothing about it.

    When it is wrong: augmentation changes the training side (crops and colours by a little); a real shift between
    sites or times is a finding, not a fault of the code.

    What to try: apply the training set's transformation and statistics to validation.

    Sources: Quionero-Candela et al. (2009), Dataset shift in machine learning; fault catalogue row 67.
    """
    if (run.setup.number("inputs_outlier_share") or 0.0) >= spoilt:
        raise CannotJudge("a few outliers set the mean and the spread")
    off, wide = run.setup.number("val_inputs_shift") or 0.0, run.setup.number("val_inputs_spread_ratio")
    wide = 1.0 if wide is None else wide
    if off < shift and 1 / ratio < wide < ratio:
        return
    yield Evidence(
        values={"shift": off, "ratio": wide},
        aspects=(*("shifted",) * (off >= shift), *("scaled",) * (not 1 / ratio < wide < ratio)),
        points=(
            EvidencePoint("val_inputs_shift", None, off, shift, "spreads"),
            EvidencePoint("val_inputs_spread_ratio", None, wide, 1.0),
        ),
    )
