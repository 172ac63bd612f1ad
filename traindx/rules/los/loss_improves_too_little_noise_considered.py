"""LOS016: the noise is larger than any improvement."""

from traindx.features.curves.plateaus import improvement
from traindx.rules.api import CannotJudge, Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOS016",
    needs=("objective",),
    min_points=8,
    severity="info",
    message="{name} {way} by {fall:.3g}, which its noise ({noise:.3g} a point, {n} points) could produce alone",
    follows=("loss-flat-from-start", "loss-diverges", "loss-oscillates"),
)
def loss_improves_too_little_noise_considered(
    run: Run,
    features: Features,
    *,
    doubtful: float = threshold(2.0, "x standard error", "theory", "the usual bound of significance"),
) -> Iterator[Evidence]:
    """Whether anything was learned cannot be told from this log.

    ## What it sees
    The fall from the first tenth to the last tenth is within two standard errors of zero.

    ## Why it matters
    Conclusions from such a run, for or against a change, are guesses.

    ## When it is wrong
    A run that fell steeply within its first logged point has nothing more to show.

    ## What to try
    Log averages over more steps, evaluate on fixed data, or train longer.

    ## Sources
    Theory (standard error of a difference of medians).
    """
    curve = features.needed_curve("objective")
    if curve.noise == 0:
        raise CannotJudge("it does not vary")
    if any(e.code == "late-start" for e in run.events):
        raise CannotJudge("the log does not show the start of the run")
    fall, error = improvement(curve)
    if abs(fall) > doubtful * error:
        return
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=0.5,
        values={
            "name": curve.name,
            "way": "improves" if fall >= 0 else "gets worse",
            "fall": abs(fall),
            "noise": curve.noise,
            "n": curve.n,
        },
        points=(
            EvidencePoint(curve.name, float(curve.steps[-1]), fall * curve.sign, doubtful * error, "change"),
        ),
    )
