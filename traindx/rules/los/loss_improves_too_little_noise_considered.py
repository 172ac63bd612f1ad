"""LOS016 loss-improves-too-little-noise-considered."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    api,
    np,
    rule,
    threshold,
)


@rule(
    code="LOS016",
    needs=("objective",),
    min_points=8,
    severity="info",
    message="{name} {way} from the first to the last tenth of the run; noise alone explains up to {most:.3g}",
    follows=("loss-flat-from-start", "loss-diverges", "loss-oscillates"),
)
def loss_improves_too_little_noise_considered(
    run: Run,
    features: Features,
    *,
    doubtful: float = threshold(2.0, "x standard error", "theory", "the usual bound of significance"),
    clear: float = threshold(10.0, "x the range of the second half", "convention", "beyond any noise"),
) -> Iterator[Evidence]:
    """The change of the loss is within its noise, so the log does not show whether anything was learned.

    ## What it sees
    The difference between the first and the last tenth of the points is below 2 standard errors.

    ## Why it matters
    Any conclusion from such a run, for or against a change, is a guess.

    ## When it is wrong
    A run that fell steeply before its first logged point has nothing more to show.

    ## What to try
    Log averages over more steps, evaluate on fixed data, or train longer.

    ## Sources
    Bouthillier et al. (2021), Accounting for variance in machine learning benchmarks, arXiv:2103.03098.
    """
    curve = features.needed_curve("objective")
    if curve.noise == 0:
        raise CannotJudge("the loss does not vary")
    if any(e.code == "late-start" for e in run.events):
        raise CannotJudge("the log does not show the start of the run")
    second = curve.as_loss[curve.n // 2 :]
    if curve.as_loss[0] - second.max() > clear * np.ptp(second):
        return  # most of the change came within the first few points
    fall, error = api.improvement(curve)
    if abs(fall) > doubtful * error:
        return
    yield Evidence(
        onset=float(curve.steps[0]),
        last=float(curve.steps[-1]),
        strength=0.5,
        values={
            "name": curve.name,
            "way": f"{'improved' if fall > 0 else 'got worse'} by only {abs(fall):.3g}"
            if fall
            else "did not change",
            "most": doubtful * error,
        },
        points=(
            EvidencePoint(curve.name, float(curve.steps[-1]), fall * curve.sign, doubtful * error, "change"),
        ),
    )
