"""GRD012 curvature-beyond-stability."""

from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    by_progress,
    is_learning,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="GRD012",
    needs=("curvature/max", "lr", "setup:optimizer"),
    min_points=1,
    severity="high",
    message="the learning rate {rate:.3g} is {times:.2g} times what the curvature {curvature:.3g} bears ({bears:.3g})",
)
def curvature_beyond_stability(
    run: Run,
    features: Features,
    *,
    beyond: float = threshold(
        1.5, "x the stable rate", "measured", "51 small trainings: healthy 0.45 at most, diverging 2.5"
    ),
    limit: float = threshold(2.0, "rate x curvature", "theory", "gradient descent on a quadratic"),
) -> Iterator[Evidence]:
    """The learning rate is above what the curvature of the loss allows.

    ## What it sees
    The largest eigenvalue of the Hessian of a batch's loss (traindx run --curvature) times the rate, over 2
    (1 + m), with momentum m, for stochastic gradient descent; with Nesterov over 2 (1 + m) / (1 + 2 m): in
    the median over the run, half as much again and more. High where the run does not learn, medium where
    that cannot be told, information where it learns. Adaptive optimizers, whose steps have other scales, are
    not judged.

    ## Why it matters
    Along that direction each step goes past the bottom by more than it came from.

    ## When it is wrong
    Single batches are more curved than the whole loss; large nets train at the very edge, where the ratio
    stays near 1.

    ## What to try
    Divide the learning rate by the ratio; warm up, so that the curvature can fall first.

    ## Sources
    Cohen et al. (2021), Gradient descent on neural networks typically occurs at the edge of stability;
    Gilmer et al. (2022), A loss curvature perspective on training instability.
    """
    if run.setup.word("optimizer") != "sgd":
        raise CannotJudge("only stochastic gradient descent has a limit that is known")
    curve, rates = features.needed_curve("curvature/max"), features.needed_curve("lr")
    if not curve.n or not rates.n:
        raise CannotJudge("nothing finite was measured")
    momentum = run.setup.momentum or 0.0
    bears = limit * (1 + momentum) / (1 + 2 * momentum if run.setup.flag("nesterov") else 1)
    rate = at_steps(rates, curve.steps)
    times = float(median(rate * curve.values)) / bears
    if times < beyond:
        return
    curvature = float(median(curve.values))
    over = int(np.argmax(rate * curve.values >= beyond * bears))
    yield Evidence(
        onset=curve.step_at(over),
        last=curve.step_at(curve.n - 1),
        severity=by_progress(features, stuck="high", unknown="medium", learns="info"),
        strength=1.0 if is_learning(features) is False else 0.5,
        values={
            "rate": float(median(rate)),
            "times": times,
            "curvature": curvature,
            "bears": bears / curvature,
        },
        points=(
            EvidencePoint(
                "curvature/max", curve.step_at(over), float(curve.values[over]), bears / float(rate[over])
            ),
        ),
    )


def at_steps(rates: Curve, steps: Floats) -> Floats:
    """The rate that the step after each of `steps` finished ones is made with."""
    places = np.clip(np.searchsorted(rates.steps, steps, side="right"), 0, rates.n - 1)
    return np.asarray(rates.values[places], np.float64)
