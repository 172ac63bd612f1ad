"""DAT021 feature-predicts-target."""

from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="DAT021",
    needs=("setup:feature_skill_best", "setup:feature_skill_next"),
    min_points=1,
    severity="high",
    message="{name} alone predicts the target (skill {skill:.3f}; 0 is guessing, 1 is perfect): {where}",
)
def feature_predicts_target(
    run: Run,
    features: Features,
    *,
    skill: float = threshold(
        0.98, "0..1", "measured", "best legitimate feature: iris 0.94, breast cancer 0.75, wine 0.70"
    ),
) -> Iterator[Evidence]:
    """One feature alone predicts the target.

    ## What it sees
    A table of the target over the bins of one feature, built on half of the samples, that predicts the
    other half almost perfectly. Missing values have a separate bin.

    ## Why it matters
    Such a feature is often derived from the target (an outcome recorded later, a code of the class, a
    file name). With it the model scores near 100 %, and without it, in production, near chance.

    ## When it is wrong
    Some tasks are that easy: a threshold on one measurement may define the class.

    ## What to try
    Check whether the feature is known when the prediction is made. Train without it.

    ## Sources
    Kaufman et al. (2012), Leakage in data mining, https://doi.org/10.1145/2382577.2382579.
    """
    setup = run.setup
    best, following = setup.number("feature_skill_best"), setup.number("feature_skill_next") or 0.0
    if best is None or best < skill:
        return
    yield Evidence(
        aspects=("several",) if following >= skill else (),
        values={
            "name": setup.facts.get("feature_skill_best_name") or "a feature",
            "skill": best,
            "where": setup.facts.get("feature_skill_where") or "no other does",
        },
        points=(
            EvidencePoint("feature_skill_best", None, best, skill, "0..1"),
            EvidencePoint("feature_skill_next", None, following, None, "0..1"),
        ),
    )
