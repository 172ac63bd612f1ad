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
    surely: float = threshold(4.0, "x standard error", "theory", "beyond chance among hundreds of pairs"),
) -> Iterator[Evidence]:
    """A group of samples has other labels, or other errors, than the rest.

    ## What it sees
    For every slice of the sensitive column, the rate of each class (or the mean target in spreads) against
    all other samples; and the error rate of a cross-validated model against that on all others. A difference
    of 0.1 and more that is beyond chance.

    ## Why it matters
    A model repeats the difference, and often enlarges it; where errors differ, it serves one group worse
    than the others.

    ## When it is wrong
    Groups may differ in truth; whether that should be predicted is a question that no number answers.

    ## What to try
    Compare within equal conditions; collect more of the slice; report errors per slice; weight or calibrate
    per slice.

    ## Sources
    Barocas, Hardt, Narayanan (2023), Fairness and machine learning; EEOC (1978), Uniform guidelines.
    """
    setup = run.setup
    seen = []
    for kind, words in (("label", "targets"), ("error", "errors of a cross-validated model")):
        size, errors = (
            setup.number(f"slice_{kind}_gap") or 0.0,
            setup.number(f"slice_{kind}_gap_errors") or 0.0,
        )
        if abs(size) >= gap and errors >= surely:
            seen.append(
                (kind, size, f"{words} by {size:+.2f} in {setup.facts.get(f'slice_{kind}_gap_slice')}")
            )
    if not seen:
        return
    yield Evidence(
        aspects=tuple(f"{kind}s" for kind, _, _ in seen),
        values={"column": setup.facts.get("slice_column") or "the sensitive column",
                "what": "; ".join(words for _, _, words in seen)},
        points=tuple(EvidencePoint(f"slice_{kind}_gap", None, size, 0.0, "of the rate") for kind, size, _ in seen),
    )  # fmt: skip
