"""LOS022 posterior-collapses."""

from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
    words_of,
)

DIVERGENCES = {"kl", "kld", "kldiv"}
RECONSTRUCTIONS = {"recon", "reconstruction", "reconstructions", "rec", "reconst", "nll", "bce", "mse"}
WEIGHTS = {"weight", "beta", "coef", "anneal"}
OTHERS = {"norm", "decay"}  # with these, the weights are those of the network


@rule(
    code="LOS022",
    needs=("train/*",),
    min_points=6,
    severity="medium",
    message="{name} fell from {most:.3g} to {last:.3g}, and {other} is {level:.4g}: the decoder gets nothing from the "
    "latent variables",
)
def posterior_collapses(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "two thirds of them are levels of two"),
    gone: float = threshold(0.01, "of its peak", "convention", "almost nothing is left"),
    little: float = threshold(
        1e-3, "of the reconstruction", "convention", "its share in VAEs that work is above 1 %"
    ),
) -> Iterator[Evidence]:
    """The latent variables of a variational autoencoder carry no information.

    ## What it sees
    The KL divergence stays below 1 % of its peak in the last third of the run, and below a thousandth of
    the reconstruction loss that is logged with it.

    ## Why it matters
    The encoder gives every input the same distribution. Samples and reconstructions no longer depend on it.

    ## When it is wrong
    The weight of the divergence is still (almost) zero; a run that logs such a weight is not reported.

    ## What to try
    Raise the weight of the divergence slowly from zero, allow some free bits, or weaken the decoder.

    ## Sources
    Bowman et al. (2016), Generating sentences from a continuous space, arXiv:1511.06349. Kingma et al.
    (2016), Improving variational inference with inverse autoregressive flow (free bits), arXiv:1606.04934.
    """
    if features.is_reinforcement:
        raise CannotJudge("the divergence is that of a policy")
    names = [name for name in run.series if name.startswith("train/")]
    others = [
        name for name in names if words_of(name) & RECONSTRUCTIONS and not words_of(name) & DIVERGENCES
    ]
    other = features.curve(others[0]) if others else None
    if other is None or other.n < least:
        raise CannotJudge("needs a reconstruction loss next to the divergence")
    if any(words_of(name) & WEIGHTS and not words_of(name) & OTHERS for name in run.series):
        return
    level = float(median(np.abs(other.values[-(other.n // 3) :])))
    for name in names:
        curve = features.curve(name)
        if not words_of(name) & DIVERGENCES or curve is None or curve.n < least:
            continue
        late, most = float(curve.values[-(curve.n // 3) :].max()), float(curve.values.max())
        if 0 <= late <= gone * most and late <= little * level:
            last = float(curve.values[-1])
            yield Evidence(
                onset=curve.step_at(int(np.argmax(curve.values <= gone * most))),
                where=name,
                values={"name": name, "most": most, "last": last, "other": other.name, "level": level},
                points=(EvidencePoint(name, float(curve.steps[-1]), last, gone * most),),
            )
            return
