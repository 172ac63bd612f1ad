"""DAT019 labels-ill-formed."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, Severity, rule, threshold

IGNORED = -100  # what cross_entropy leaves out if not told otherwise
Seen = tuple[Severity, str, str, float, str]  # severity, aspect, words, number, fact


@rule(
    code="DAT019",
    needs=("setup:classes_seen|setup:targets_distinct",),
    min_points=1,
    severity="medium",
    message="{what}",
)
def labels_ill_formed(
    run: Run,
    features: Features,
    *,
    two: float = threshold(2, "different targets", "theory", "with one there is nothing to learn"),
    any_at_all: float = threshold(0, "classes", "theory", "one is enough to be wrong"),
) -> Iterator[Evidence]:
    """The targets are written in a way that will not train, or not as meant.

    ## What it sees
    One target for all samples (high); classes of the validation data that training never shows (high);
    labels that differ in case, blanks or punctuation only (medium); negative class numbers (but -100),
    numbers that do not start at 0 or leave some out, and classes with a single sample (information).

    ## Why it matters
    Twins are learned as two classes; cross-entropy wants the numbers 0 to k - 1, and either fails or widens
    the output for others; what training never shows cannot be predicted.

    ## When it is wrong
    The script maps labels to numbers itself; -1 or -100 may mean "ignore".

    ## What to try
    Map labels through one dictionary, made from the training data, and raise on any that is not in it.

    ## Sources
    PyTorch, documentation of cross_entropy; standard advice.
    """
    seen = sorted(found(run, two, any_at_all), key=lambda s: ("high", "medium", "info").index(s[0]))
    for severity, aspect, words, number, fact in seen:
        yield Evidence(
            severity=severity,
            strength=0.5 if severity == "info" else 1.0,
            aspects=(aspect,),
            values={"what": words},
            points=(EvidencePoint(fact, None, number, None, "classes"),),
        )


def found(run: Run, two: float, any_at_all: float) -> Iterator[Seen]:
    """Everything odd about the labels."""
    setup = run.setup
    distinct = setup.number("classes_seen")
    distinct = setup.number("targets_distinct") if distinct is None else distinct
    # a recording reads some batches: unless they are mixed, those may all be of one class
    partly = setup.number("batches_seen") is not None and not setup.flag("shuffle")
    if distinct is not None and distinct < two and not partly:
        fact = "classes_seen" if setup.number("classes_seen") is not None else "targets_distinct"
        yield "high", "one-class", "all samples have the same target", distinct, fact
    unseen, twins = setup.number("label_unseen_classes") or 0.0, setup.number("label_twins") or 0.0
    if unseen > any_at_all:
        names = setup.facts.get("label_unseen_where")
        yield (
            "high",
            "unseen",
            f"{unseen:.0f} validation classes are not in training: {names}",
            unseen,
            "label_unseen_classes",
        )
    if twins > any_at_all:
        names = setup.facts.get("label_twins_where")
        yield (
            "medium",
            "twins",
            f"labels differ in case, blanks or punctuation only: {names}",
            twins,
            "label_twins",
        )
    low, gaps = setup.number("label_min"), setup.number("label_gaps") or 0.0
    odd = low is not None and low not in (0, IGNORED)
    if distinct is not None and low is not None and (odd or gaps > any_at_all):
        how = (
            f"start at {low:.0f}"
            if low > 0
            else "are negative in part"
            if odd
            else f"leave out {gaps:.0f} numbers"
        )
        yield (
            "info",
            "numbering",
            f"class numbers {how}; most losses want 0 to {distinct - 1:.0f}",
            low,
            "label_min",
        )
    single = setup.number("label_single_samples") or 0.0
    if single > any_at_all:
        yield "info", "single", f"{single:.0f} classes have a single sample", single, "label_single_samples"
