"""DAT008 labels-look-noisy."""

from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT008",
    needs=("setup:label_noise_share", "setup:label_noise_floor", "setup:label_noise_skill"),
    min_points=1,
    severity="medium",
    message="{count:.0f} of {checked:.0f} labels look wrong (rows {rows}); where a cross-validated model is surest, "
    "{disagree:.1%} disagree with it",
)
def labels_look_noisy(
    run: Run,
    features: Features,
    *,
    disagree: float = threshold(
        0.02, "of the sure samples", "measured", "digits, documents: 0; of 5 % wrong labels: 4.4 %"
    ),
    many: float = threshold(0.08, "of the sure samples", "convention", "a net memorizes that much late"),
    level: float = threshold(
        0.25, "of that share", "measured", "500 samples of two normals 1.5 spreads apart: 1 % reach it"
    ),
    skill: float = threshold(
        0.45, "0..1", "measured", "below it (two normals 1.2 spreads apart) hard and noisy look the same"
    ),
    surely: float = threshold(2.0, "x standard error", "theory", "a binomial share"),
    least: float = threshold(200, "sure samples", "measured", "of 100, two normals alarm in 5 to 12 %"),
) -> Iterator[Evidence]:
    """Labels contradict what their samples look like.

    ## What it sees
    Among the half of the samples whose class a cross-validated model is surest of, the share that bears
    another label; and that this share does not vanish towards the surest. Classes that are hard to tell
    apart disagree less and less there, wrong labels as often everywhere. Medium from 2 %, high from 8 %. The
    rows named are those that confident learning would drop, worst first. Not judged where no model predicts
    the labels well.

    ## Why it matters
    The net first learns what agrees and later learns the wrong labels by heart: an early best validation, a
    floor under the training loss, scores that cannot be trusted on a noisy test set.

    ## When it is wrong
    A model that is sure of the wrong thing (few samples, a leaking feature); labels that depend on what is
    not among the features.

    ## What to try
    Look at the rows named; correct or drop what is wrong, then check again.

    ## Sources
    Northcutt, Jiang, Chuang (2021), Confident learning; fault catalogue row 72.
    """
    setup = run.setup
    sure, wrong = setup.number("label_noise_sure") or 0.0, setup.number("label_noise_sure_wrong")
    if wrong is None or sure < least:
        raise CannotJudge(f"needs {2 * least:.0f} samples of classes that are not too rare")
    if (setup.number("label_noise_skill") or 0.0) < skill:
        raise CannotJudge("the features tell too little of the labels: wrong and hard ones look the same")
    share = wrong / sure
    error = (max(share * (1 - share), 1 / sure) / sure) ** 0.5
    steady = (setup.number("label_noise_floor") or 0.0) >= level * share
    if share < disagree or share - surely * error <= 0 or not steady:
        return
    yield Evidence(
        severity="high" if share >= many else "medium",
        aspects=("many",) if share >= many else (),
        values=told(run, share),
        points=(
            EvidencePoint("label_noise_sure_wrong", None, share, disagree, "of the sure samples"),
            EvidencePoint("label_noise_floor", None, setup.number("label_noise_floor") or 0.0, 0.0, "0..1"),
        ),
    )


def told(run: Run, share: float) -> dict[str, object]:
    """What the message says."""
    return {
        "count": run.setup.number("label_noise_suspects") or 0.0,
        "checked": run.setup.number("label_noise_checked") or 0.0,
        "rows": run.setup.facts.get("label_noise_where") or "none in particular",
        "disagree": share,
    }
