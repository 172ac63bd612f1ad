"""DAT008 labels-look-noisy."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT008",
    needs=("setup:label_noise_share", "setup:label_noise_floor", "setup:label_noise_skill"),
    min_points=1,
    severity="medium",
    message="{count:.0f} of {checked:.0f} labels look wrong (rows {rows}); {disagree:.1%} of the most "
    "confident predictions of a cross-validated model disagree with them",
)
def labels_look_noisy(
    run: Run,
    features: Features,
    *,
    disagree: float = threshold(
        0.02, "of the confident samples", "measured", "digits, documents: 0; with 5 % wrong labels: 4.4 %"
    ),
    many: float = threshold(0.08, "of the confident samples", "convention", "memorized late in training"),
    level: float = threshold(
        0.25, "of that share", "measured", "500 samples of two normals 1.5 deviations apart: 1 % reach it"
    ),
    skill: float = threshold(
        0.45, "0..1", "measured", "below it (two normals 1.2 deviations apart) hard and noisy look the same"
    ),
    surely: float = threshold(2.0, "x standard error", "theory", "a binomial share"),
    least: float = threshold(200, "confident samples", "measured", "with 100, 5 to 12 % false alarms"),
) -> Iterator[Evidence]:
    """Labels contradict the features of their samples.

    ## What it sees
    A cross-validated model predicts the labels. The rule looks at the half of the samples where it is most
    confident: how many predictions disagree with the label, and whether the share stays as high for the most
    confident ones. Classes that are hard to
    separate disagree less and less there; wrong labels disagree equally often everywhere. Severity is medium
    from 2 % on and high from 8 % on. The rows named are those that confident learning would drop, worst
    first. If no model predicts the labels well, nothing is judged.

    ## Why it matters
    The model first learns the consistent labels and later memorizes the wrong ones: validation is best
    early, the training loss levels off high, and scores on a noisy test set cannot be trusted.

    ## When it is wrong
    The cross-validated model may be confidently wrong (few samples, a leaking feature). The labels may depend
    on something that is not among the features.

    ## What to try
    Inspect the named rows, correct or drop wrong ones, then check again.

    ## Sources
    Northcutt, Jiang, Chuang (2021), Confident learning, https://arxiv.org/abs/1911.00068.
    """
    setup = run.setup
    sure, wrong = setup.number("label_noise_sure") or 0.0, setup.number("label_noise_sure_wrong")
    if wrong is None or sure < least:
        raise CannotJudge(f"needs {2 * least:.0f} samples of classes that are not too rare")
    if (setup.number("label_noise_skill") or 0.0) < skill:
        raise CannotJudge(
            "the features predict the labels too poorly to separate wrong labels from hard ones"
        )
    share = wrong / sure
    error = (max(share * (1 - share), 1 / sure) / sure) ** 0.5
    steady = (setup.number("label_noise_floor") or 0.0) >= level * share
    if share < disagree or share - surely * error <= 0 or not steady:
        return
    yield Evidence(
        severity="high" if share >= many else "medium",
        aspects=("many",) if share >= many else (),
        values=label_numbers(run, share),
        points=(
            EvidencePoint("label_noise_sure_wrong", None, share, disagree, "of the confident samples"),
            EvidencePoint("label_noise_floor", None, setup.number("label_noise_floor") or 0.0, 0.0, "0..1"),
        ),
    )


def label_numbers(run: Run, share: float) -> dict[str, object]:
    """The numbers of the message."""
    return {
        "count": run.setup.number("label_noise_suspects") or 0.0,
        "checked": run.setup.number("label_noise_checked") or 0.0,
        "rows": run.setup.facts.get("label_noise_where") or "none in particular",
        "disagree": share,
    }
