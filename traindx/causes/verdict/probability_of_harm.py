"""How probable it is that a run is harmed, which findings are that harm, and what it was judged by."""

from collections.abc import Sequence

from traindx.causes.verdict.harm import OWN_SCORES, gaps, late_level
from traindx.causes.verdict.health import Case, counts, health_of, is_unknown, why_broken
from traindx.causes.verdict.patterns import fired_aspects, pattern
from traindx.features.curves.score_scales import scores
from traindx.features.shared import Features
from traindx.vocabulary import Finding, Harm, Hypothesis, Outcome, Run, threshold

NOTES = ("low", "info")
OWN_REFERENCES = ("the most frequent class", "the mean target")  # what OWN_SCORES are compared with


def harm_of(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
    *,
    even: float = threshold(0.5, "P(harm)", basis="convention", source="harm is as likely as none"),
) -> Harm:
    """Harm of the run, in agreement with its health: more likely than not where it is sick, certain where it has
    failed, and without a probability where too little was logged to judge it."""
    case = Case(
        tuple(findings),
        tuple(hypotheses),
        run,
        features,
        pattern(outcomes, run, features),
        fired_aspects(outcomes),
    )
    health, probability = health_of(case), 1.0 - case.healthy
    harmful = [f.slug for f in findings if f.severity not in NOTES and counts(f, case)]
    seen = () if health == "healthy" else tuple(dict.fromkeys(harmful))
    by = judged_by(run, features)
    if why_broken(case):
        return Harm(1.0, seen, by)
    if health == "sick":
        return Harm(max(even, probability), seen, by)
    doubtful = health == "healthy" and probability >= even
    return Harm(None if doubtful or not by or is_unknown(case) else probability, seen, by)


def judged_by(run: Run, features: Features) -> str:
    """The number that shows what was achieved, and what it is compared with; empty where there is none."""
    compared = gaps(run, features)
    if compared:
        return f"{compared[0].unit} compared with simple predictors on the same samples"
    for split in ("val/", "train/"):
        scored = scores(features, split, 1)
        if scored:
            return f"{scored[0].name} compared with its scale"
    for name, reference in zip(OWN_SCORES, OWN_REFERENCES, strict=True):
        if late_level(features, name) is not None:
            return f"{name} compared with {reference}"
    curve = features.objective
    return "" if curve is None or features.loss_is_no_score else f"{curve.name} compared with its own start"
