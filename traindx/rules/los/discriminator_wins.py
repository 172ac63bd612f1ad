"""LOS018: of two nets that play against each other one has won."""

from traindx.features.adversarial import player_of
from traindx.rules.api import (
    CannotJudge,
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="LOS018",
    needs=("train/*",),
    min_points=6,
    severity="medium",
    message="{loser} comes down to {low:.3g} and {other} goes from {start:.3g} to {end:.3g}: the discriminator wins",
)
def discriminator_wins(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "two thirds of them are levels of three"),
    nothing: float = threshold(0.05, "loss", "theory", "right 95 % of the time: -ln 0.95"),
    gone: float = threshold(0.1, "of the first level", "convention", "it has fallen by a decade"),
    risen: float = threshold(1.5, "x the first level", "convention", "beyond the usual swings"),
    stays: float = threshold(0.9, "of the last third", "convention", "for good, not now and then"),
) -> Iterator[Evidence]:
    """The discriminator's loss is next to nothing and stays there, and the generator's has risen.

    ## What it sees
    A log that names the losses of both players. The last third of the discriminator's lies at 0.05 and below, or at
    a tenth of its first level, and the generator's level there is half as much again as at the start. Losses that go
    below zero (critics of a Wasserstein game) are not judged.

    ## Why it matters
    A discriminator that is always right saturates: its gradient, all that the generator learns from, vanishes.

    ## When it is wrong
    Early in a run the discriminator often leads for some hundred steps. Samples decide.

    ## What to try
    Lower the discriminator's learning rate or train it less often; smooth its labels, add noise to its inputs, use
    spectral normalization or a loss that does not saturate.

    ## Sources
    Goodfellow et al., arXiv:1406.2661; Arjovsky and Bottou, arXiv:1701.04862 (vanishing gradients of the generator).
    """
    if not features.is_duel:
        raise CannotJudge("needs the losses of a generator and of a discriminator")
    losers, others = of_player(features, "discriminator", least), of_player(features, "generator", least)
    for curve in losers:
        tail = curve.values[-(curve.n // 3) :]
        if curve.values.min() < 0 or float(np.mean(tail <= max(nothing, gone * curve.start))) < stays:
            continue
        for other in others:
            if other.values.min() >= 0 and other.end > risen * max(other.start, nothing):
                yield told(curve, other, float(median(tail)))
                return


def of_player(features: Features, player: str, least: float) -> list[Curve]:
    """The losses of one player with enough points."""
    named = [n for n in features.run.series if player_of(n) == player and n.endswith(("loss", "_d", "_g"))]
    return [c for n in named if (c := features.curve(n)) is not None and c.n >= least]


def told(curve: Curve, other: Curve, low: float) -> Evidence:
    last = float(curve.steps[-1])
    return Evidence(
        onset=curve.step_at(curve.n - curve.n // 3),
        last=last,
        where=curve.name,
        strength=1.0,
        values={
            "loser": curve.name,
            "low": low,
            "other": other.name,
            "start": other.start,
            "end": other.end,
        },
        points=(EvidencePoint(curve.name, last, low, curve.start), other.point(-1, other.end, other.start)),
    )
