"""DAT023 slices-unequal."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT023",
    needs=("setup:slice_label_gap", "setup:slice_label_gap_errors"),
    min_points=1,
    severity="medium",
    message="slices of {column} differ: {what}",
)
def slices_unequal(
    run: Run,
    features: Features,
    *,
    gap: float = threshold(
        0.1, "of the rate", "convention", "a fifth of a rate of one half (four-fifths rule)"
    ),
    surely: float = threshold(
        4.0, "x standard error", "theory", "larger than chance among hundreds of pairs"
    ),
) -> Iterator[Evidence]:
    """A group of samples has other labels, or other errors, than the rest.

    ## What it sees
    Every slice of the sensitive column is compared with all other samples. Two measures are compared: the rate
    of each class (or the mean target in standard deviations), and the error rate of a cross-validated model. A
    difference of 0.1 or more that is larger than chance is reported.

    ## Why it matters
    A model repeats the difference and often enlarges it. Where errors differ, it serves one group worse
    than the others.

    ## When it is wrong
    Groups may really differ. Whether a model should predict that is a question that no number answers.

    ## What to try
    Collect more samples of the slice, and report errors per slice. Then weight or calibrate each slice, and
    compare under equal conditions.

    ## Sources
    Barocas, Hardt, Narayanan (2023), Fairness and machine learning, https://fairmlbook.org.
    """
    setup = run.setup
    unequal = []
    for kind, words in (("label", "targets"), ("error", "errors of a cross-validated model")):
        size = setup.number(f"slice_{kind}_gap") or 0.0
        if abs(size) >= gap and (setup.number(f"slice_{kind}_gap_errors") or 0.0) >= surely:
            slice_ = setup.facts.get(f"slice_{kind}_gap_slice")
            unequal.append((kind, size, f"{words} by {size:+.2f} in {slice_}"))
    if not unequal:
        return
    yield Evidence(
        aspects=tuple(f"{kind}s" for kind, _, _ in unequal),
        values={
            "column": setup.facts.get("slice_column") or "the sensitive column",
            "what": "; ".join(words for _, _, words in unequal),
        },
        points=tuple(
            EvidencePoint(f"slice_{kind}_gap", None, size, 0.0, "of the rate") for kind, size, _ in unequal
        ),
    )
