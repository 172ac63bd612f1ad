"""DAT011 validation-distribution-differs."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT011",
    needs=("setup:val_inputs_shift",),
    min_points=1,
    severity="high",
    message="{what}",
)
def validation_distribution_differs(
    run: Run,
    features: Features,
    *,
    shift: float = threshold(
        1.0, "spreads", "measured", "healthy: 0.1 at most (200 samples); a missing scaling: 20"
    ),
    ratio: float = threshold(3.0, "x the spread", "measured", "healthy: 0.9 to 1.1; a missing scaling: 16"),
    single: float = threshold(
        0.3, "largest distance", "convention", "of two distribution functions; one deviation apart: 0.38"
    ),
    labels: float = threshold(0.1, "of the targets", "convention", "one in ten would have to change"),
    spoilt: float = threshold(0.002, "of the values", "measured", "outliers then dominate the deviation"),
) -> Iterator[Evidence]:
    """Validation inputs have another scale or offset than training inputs.

    ## What it sees
    Severity is high if the means of the features are far apart, in standard deviations of the training data,
    or the standard deviations differ by a large factor. Where outliers dominate, the largest values of a
    batch are compared instead. In data files, severity is medium if the distribution of a feature or of the
    targets differs by more than chance.

    ## Why it matters
    The model is evaluated on inputs unlike those it learned from, so the validation score does not
    describe it.

    ## When it is wrong
    Augmentation changes the training data slightly (crops, colors). Inputs of a generation (a diffusion
    model's noise) are no validation: without a validation loss or score, nothing is reported. A real shift
    between sites or times is a finding about the data, not a fault in the code.

    ## What to try
    Apply the transformation and statistics of the training data to the validation data.

    ## Sources
    Quionero-Candela et al. (2009), Dataset shift in machine learning,
    https://doi.org/10.7551/mitpress/9780262170055.001.0001.
    """
    yield from by_feature(run, single, labels)
    if run.series and not any(name.startswith("val/") for name in run.series):
        return  # nothing was validated: inputs without gradients may be those of a generation
    off, wide = run.setup.number("val_inputs_shift") or 0.0, run.setup.number("val_inputs_spread_ratio")
    wide = 1.0 if wide is None else wide
    if (run.setup.number("inputs_outlier_share") or 0.0) >= spoilt:
        if run.setup.number("val_shift_largest") is not None:
            return  # judged by its distributions, which a few outliers do not change
        off, wide = 0.0, usual_ratio(run)
    if off < shift and 1 / ratio < wide < ratio:
        return
    yield Evidence(
        values={
            "what": f"validation inputs are {off:.2g} standard deviations from training inputs, and vary "
            f"{wide:.2g} times as much"
        },
        aspects=(*("shifted",) * (off >= shift), *("scaled",) * (not 1 / ratio < wide < ratio)),
        points=(
            EvidencePoint("val_inputs_shift", None, off, shift, "spreads"),
            EvidencePoint("val_inputs_spread_ratio", None, wide, 1.0),
        ),
    )


def usual_ratio(run: Run) -> float:
    """The ratio of the scales without outliers: the largest value of a batch, median over features and
    batches. Raises CannotJudge where it is unknown."""
    held, trained = run.setup.number("val_inputs_absmax_median"), run.setup.number("inputs_absmax_median")
    if not held or not trained:
        raise CannotJudge("a few outliers dominate the mean and the standard deviation")
    return held / trained


def by_feature(run: Run, single: float, labels: float) -> Iterator[Evidence]:
    """Features and targets whose distributions differ between training and validation."""
    setup = run.setup
    distance, target = setup.number("val_shift_largest") or 0.0, setup.number("val_target_shift") or 0.0
    if distance >= single:
        count, where = setup.number("val_shifted_features") or 0.0, setup.facts.get("val_shift_where")
        yield Evidence(
            severity="medium",
            aspects=("features",),
            values={"what": f"{count:.0f} features have a different distribution in validation: {where}"},
            points=(EvidencePoint("val_shift_largest", None, distance, 0.0, "0..1"),),
        )
    if target >= max(labels, setup.number("val_target_shift_chance") or 0.0):
        yield Evidence(
            severity="medium",
            aspects=("targets",),
            values={"what": f"validation and training targets have different distributions ({target:.2f})"},
            points=(EvidencePoint("val_target_shift", None, target, 0.0, "0..1"),),
        )
