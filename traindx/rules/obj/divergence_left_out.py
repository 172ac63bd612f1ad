"""OBJ008 divergence-left-out."""

from traindx.rules.api import Evidence, Features, Iterator, Run, api, median, np, rule, threshold
from traindx.rules.los.posterior_collapses import DIVERGENCES, RECONSTRUCTIONS, find_curve


@rule(
    code="OBJ008",
    needs=("train/loss",),
    min_points=6,
    severity="medium",
    persistence="steady",
    message="{loss} equals {other}, so {name} ({first:.3g} to {last:.3g}) is not part of it",
)
def divergence_left_out(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "each third then has two points"),
    equal: float = threshold(1e-4, "of the loss", "theory", "weights of 1e-6 change the third digit"),
    large: float = threshold(0.5, "of the reconstruction", "measured", "VAEs that work: 0.05 to 0.3"),
) -> Iterator[Evidence]:
    """The divergence of a variational autoencoder is logged, but is not part of its loss.

    ## What it sees
    The loss equals the reconstruction loss in every digit, and the KL divergence has grown to half of it or
    more.

    ## Why it matters
    Nothing keeps the latent variables near the distribution that samples are drawn from. Reconstructions are
    good, and samples are not.

    ## When it is wrong
    Only the reconstructions or the codes are used, and nothing is sampled.

    ## What to try
    Add the divergence to the loss, with a weight of 1 where both are summed over their outputs.

    ## Sources
    Kingma and Welling (2014), Auto-encoding variational Bayes, arXiv:1312.6114.
    """
    loss = features.curve("train/total_loss") or features.needed_curve("train/loss")
    other = find_curve(run, features, RECONSTRUCTIONS, DIVERGENCES)
    curve = find_curve(run, features, DIVERGENCES, frozenset())
    if features.is_reinforcement or other is None or curve is None or min(curve.n, loss.n) < least:
        raise api.CannotJudge("needs a loss, a reconstruction loss and a divergence")
    if loss.n != other.n or np.any(np.abs(loss.values - other.values) > equal * np.abs(loss.values)):
        return
    first, last = float(median(curve.values[: curve.n // 3])), float(median(curve.values[-(curve.n // 3) :]))
    if last > max(first, large * float(median(other.values[-(other.n // 3) :]))):
        yield Evidence(
            onset=None,
            where=curve.name,
            values={
                "loss": loss.name,
                "other": other.name,
                "name": curve.name,
                "first": first,
                "last": last,
            },
            points=(api.EvidencePoint(curve.name, float(curve.steps[-1]), last, None),),
        )
