"""DAT019 labels-ill-formed."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, Severity, rule, threshold

IGNORED = -100  # the default ignore_index of cross_entropy
Seen = tuple[Severity, str, str, float, str]  # severity, aspect, words, number, fact


@rule(
    code="DAT019",
    needs=("setup:classes_seen|setup:targets_distinct|setup:padding_share",),
    min_points=1,
    severity="medium",
    message="{what}",
)
def labels_ill_formed(
    run: Run,
    features: Features,
    *,
    two: float = threshold(2, "different targets", "theory", "with one target there is nothing to learn"),
    any_at_all: float = threshold(0, "classes", "theory", "one is enough"),
    filled: float = threshold(
        0.3, "of the targets", "convention", "a loss that is mostly of words is still theirs"
    ),
) -> Iterator[Evidence]:
    """The targets are encoded in a way that cannot be learned, or that teaches something else.

    ## What it sees
    - High: one target for all samples, or validation classes that training does not have.
    - Medium: labels that differ only in case, blanks or punctuation. Targets of which 30 % and more are
      padding that the loss counts: one token that only fills the ends of sequences.
    - Information: class indices that are negative (except -100), do not start at 0 or skip numbers, and
      classes with a single sample. Indices above 0 are fine where the model has outputs for all of them.

    ## Why it matters
    Padding is easy to predict, so it lowers the loss and raises the accuracy. Two spellings are learned as
    two classes. Cross-entropy needs the indices 0 to k - 1, and either fails or adds unused outputs. A class
    that training never has cannot be predicted.

    ## When it is wrong
    The script may map labels to indices itself. Sequences may really end in many of the same token. A label
    of -1 or -100 may mean "ignore".

    ## What to try
    Give the loss the padding token as `ignore_index`. Map labels through one dictionary, built from the
    training data, and raise an error on any other label.

    ## Sources
    PyTorch documentation, CrossEntropyLoss,
    https://docs.pytorch.org/docs/stable/generated/torch.nn.CrossEntropyLoss.html.
    """
    seen = sorted(
        (*padding_evidence(run, filled), *problems(run, two, any_at_all)),
        key=lambda s: ("high", "medium", "info").index(s[0]),
    )
    for severity, aspect, words, number, fact in seen:
        yield Evidence(
            severity=severity,
            strength=0.5 if severity == "info" else 1.0,
            aspects=(aspect,),
            values={"what": words},
            points=(EvidencePoint(fact, None, number, None, "classes"),),
        )


def padding_evidence(run: Run, filled: float) -> Iterator[Seen]:
    """Padding among the targets that a loss counts."""
    share = run.setup.number("padding_share") or 0.0
    if share >= filled:
        yield (
            "medium",
            "padding",
            f"{share:.0%} of the targets are padding, and the loss counts it",
            share,
            "padding_share",
        )


def problems(run: Run, two: float, any_at_all: float) -> Iterator[Seen]:
    """Everything unusual about the labels."""
    setup = run.setup
    distinct = setup.number("classes_seen")
    distinct = setup.number("targets_distinct") if distinct is None else distinct
    # A recording reads only some batches. Unless they are shuffled, these may all have one class.
    partly = setup.number("batches_seen") is not None and not setup.flag("shuffle")
    if distinct is not None and distinct < two and not partly:
        fact = "classes_seen" if setup.number("classes_seen") is not None else "targets_distinct"
        yield "high", "one-class", "all samples have the same target", distinct, fact
    unseen, twins = setup.number("label_unseen_classes") or 0.0, setup.number("label_twins") or 0.0
    if unseen > any_at_all:
        names = setup.facts.get("label_unseen_where")
        words = f"{unseen:.0f} validation classes do not occur in training: {names}"
        yield "high", "unseen", words, unseen, "label_unseen_classes"
    if twins > any_at_all:
        names = setup.facts.get("label_twins_where")
        words = f"labels differ only in case, blanks or punctuation: {names}"
        yield "medium", "twins", words, twins, "label_twins"
    yield from numbering_problem(run, distinct, any_at_all)
    single = setup.number("label_single_samples") or 0.0
    if single > any_at_all:
        yield "info", "single", f"{single:.0f} classes have a single sample", single, "label_single_samples"


def numbering_problem(run: Run, distinct: float | None, any_at_all: float) -> Iterator[Seen]:
    """Class indices of the `distinct` labels that are not 0 to k - 1."""
    setup = run.setup
    low, gaps = setup.number("label_min"), setup.number("label_gaps") or 0.0
    unusual = low is not None and low not in (0, IGNORED)
    high, outputs = setup.number("label_max"), setup.number("classes")
    if low is not None and low > 0 and high is not None and outputs is not None and high < outputs:
        return  # the model has an output for the indices below, which are those of padding
    if distinct is not None and low is not None and (unusual or gaps > any_at_all):
        how = "are partly negative" if unusual else f"skip {gaps:.0f} numbers"
        if low > 0:
            how = f"start at {low:.0f}"
        words = f"class indices {how}; most losses need 0 to {distinct - 1:.0f}"
        yield "info", "numbering", words, low, "label_min"
