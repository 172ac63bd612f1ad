"""LOS022 posterior-collapses."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, np, rule, threshold, words_of

DIVERGENCES = frozenset({"kl", "kld", "kldiv"})
RECONSTRUCTIONS = frozenset(
    {"recon", "reconstruction", "reconstructions", "rec", "reconst", "r", "nll", "bce", "mse"}
)
WEIGHTS = {"weight", "beta", "coef", "anneal"}
OTHERS = {"norm", "decay"}  # with these, the weights are those of the network


@rule(
    code="LOS022",
    needs=("train/*",),
    min_points=1,
    severity="medium",
    message="{name} {course}, and the median of {other} is {level:.4g}: the decoder gets nothing from the latent variables",
)
def posterior_collapses(
    run: Run,
    features: Features,
    *,
    least: float = threshold(4, "points", "convention", "fewer show no course"),
    rising: float = threshold(1.5, "x the first third", "convention", "it may still be used"),
    full: float = threshold(0.5, "of its weight in the bound", "convention", "the divergence counts"),
    little: float = threshold(
        2e-3, "of the reconstruction", "convention", "its share in VAEs that work is above 1 %"
    ),
) -> Iterator[Evidence]:
    """The latent variables of a variational autoencoder carry no information.

    ## What it sees
    In the last third of the run, the median of the KL divergence is below 0.2 % of the reconstruction loss that
    is logged with it, and is not rising. In fewer than four rows of a run that has been validated, it must be
    below 0.01 %.

    ## Why it matters
    The encoder gives every input the same distribution. Samples and reconstructions no longer depend on it.

    ## When it is wrong
    The weight of the divergence is still (almost) zero; a run that logs a weight below one half in its last
    third is not reported.

    ## What to try
    Raise the weight of the divergence slowly from zero, allow some free bits, or weaken the decoder.

    ## Sources
    Bowman et al. (2016), Generating sentences from a continuous space, arXiv:1511.06349. Kingma et al.
    (2016), Improving variational inference with inverse autoregressive flow (free bits), arXiv:1606.04934.
    """
    if features.is_reinforcement:
        raise api.CannotJudge("the divergence is that of a policy")
    other = find_curve(run, features, RECONSTRUCTIONS, DIVERGENCES)
    if other is None or not other.n:
        raise api.CannotJudge("needs a reconstruction loss next to the divergence")
    if other.n < least:
        return (yield from in_one_row(run, features, other))
    if any(weighs_less(features, name, full) for name in run.series):
        return
    level = float(api.median(np.abs(other.values[-(other.n // 3) :])))
    curve = find_curve(run, features, DIVERGENCES, frozenset(WEIGHTS))
    if curve is None or curve.n < least:
        raise api.CannotJudge("needs the divergence")
    late, first = curve.values[-(curve.n // 3) :], float(api.median(curve.values[: curve.n // 3]))
    middle = float(api.median(late))
    if late.min() >= 0 and middle <= little * level and middle <= rising * first:
        last, limit, most = float(curve.values[-1]), little * level, float(curve.values.max())
        course = f"fell from {most:.4g} to {last:.4g}" if most > limit else f"has never exceeded {most:.4g}"
        yield Evidence(
            onset=curve.step_at(int(np.argmax(curve.values <= limit))),
            where=curve.name,
            values={
                "name": curve.name,
                "course": course,
                "other": other.name,
                "level": level,
            },
            points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), last, limit),),
        )


def in_one_row(
    run: Run,
    features: Features,
    other: api.Curve,
    *,
    nothing: float = threshold(1e-4, "of the reconstruction", "convention", "far below any share in use"),
) -> Iterator[Evidence]:
    """The evidence of a pasted row or two, of a run that has been validated, so that an epoch has passed."""
    curve = find_curve(run, features, DIVERGENCES, frozenset(WEIGHTS))
    if curve is None or not curve.n or not any(n.startswith("val/") for n in run.series):
        return
    last, level = float(curve.values[-1]), abs(float(other.values[-1]))
    if 0 <= last <= nothing * level:
        yield Evidence(
            onset=float(curve.steps[-1]),
            where=curve.name,
            strength=0.5,
            aspects=("one-row",),
            message=f"{curve.name} is {last:.4g} next to {other.name} of {level:.4g}: the decoder gets nothing from the "
            "latent variables",
            points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), last, nothing * level),),
        )


def weighs_less(features: Features, name: str, full: float) -> bool:
    """Whether a signal is a weight of the divergence that is small in the last third of the run."""
    if not words_of(name) & WEIGHTS or words_of(name) & OTHERS:
        return False
    curve = features.curve(name)
    return curve is None or not curve.n or bool(np.min(curve.values[-(curve.n + 2) // 3 :]) < full)


def find_curve(
    run: Run, features: Features, words: frozenset[str], without: frozenset[str]
) -> api.Curve | None:
    """The first training curve whose name has one of `words` and none of those `without`."""
    names = (
        n
        for n in run.series
        if words_of(n) & words and not words_of(n) & without and not n.startswith("val/")
    )
    return features.curve(next(names, ""))
