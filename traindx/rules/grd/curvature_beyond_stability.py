"""GRD012 curvature-beyond-stability."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold


@rule(
    code="GRD012",
    needs=("curvature/max", "lr", "setup:optimizer"),
    min_points=1,
    severity="high",
    message="the learning rate {rate:.3g} is {times:.2g} times the stability limit {limit:.3g} of "
    "curvature {curvature:.3g}",
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
    """The learning rate is above the stability limit of the loss curvature.

    ## What it sees
    The learning rate times the largest Hessian eigenvalue of the loss of a batch (`traindx run
    --curvature`), divided by the limit of stochastic gradient descent: 2 (1 + m) with momentum m, or 2 (1 +
    m) / (1 + 2 m) with Nesterov momentum. The median over the run must reach 1.5. Severity is high if the
    run does not learn, medium if that is not known, and info if it learns. Adaptive optimizers are not
    judged, because they rescale each coordinate.

    ## Why it matters
    Beyond the limit, each step along the direction of that eigenvector overshoots the minimum by more than
    its distance before the step.

    ## When it is wrong
    The loss of a single batch has more curvature than the whole loss. Large networks train at the edge of
    stability, where the ratio stays near 1.

    ## What to try
    Divide the learning rate by the ratio, or add a warm-up, during which the curvature falls.

    ## Sources
    Cohen et al. (2021), Gradient descent on neural networks typically occurs at the edge of stability,
    arXiv:2103.00065. Gilmer et al. (2022), A loss curvature perspective on training instability in deep
    learning, arXiv:2110.04369.
    """
    if run.setup.word("optimizer") != "sgd":
        raise api.CannotJudge("a stability limit is known for stochastic gradient descent only")
    curve, rates = features.needed_curve("curvature/max"), features.needed_curve("lr")
    if not curve.n or not rates.n:
        raise api.CannotJudge("no finite curvature or learning rate was recorded")
    momentum = run.setup.momentum or 0.0
    stable = limit * (1 + momentum) / (1 + 2 * momentum if run.setup.flag("nesterov") else 1)
    rate = at_steps(rates, curve.steps)
    times = float(median(rate * curve.values)) / stable
    if times < beyond:
        return
    curvature = float(median(curve.values))
    over = int(np.argmax(rate * curve.values >= beyond * stable))
    yield Evidence(
        onset=curve.step_at(over),
        last=curve.step_at(curve.n - 1),
        severity=api.progress_severity(features, stuck="high", unknown="medium", learns="info"),
        strength=1.0 if api.is_learning(features) is False else 0.5,
        values={
            "rate": float(median(rate)),
            "times": times,
            "curvature": curvature,
            "limit": stable / curvature,
        },
        points=(
            api.EvidencePoint(
                "curvature/max", curve.step_at(over), float(curve.values[over]), stable / float(rate[over])
            ),
        ),
    )


def at_steps(rates: api.Curve, steps: api.Floats) -> api.Floats:
    """The learning rate of the optimizer step that follows each of `steps`."""
    places = np.clip(np.searchsorted(rates.steps, steps, side="right"), 0, rates.n - 1)
    return np.asarray(rates.values[places], np.float64)
