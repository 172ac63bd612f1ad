"""LOS018 discriminator-wins."""

from traindx.features.adversarial import player_of, words_of
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
    message="the {player} wins: {loser} {falls} {low:.3g} while {other} {course} (medians)",
)
def discriminator_wins(
    run: Run,
    features: Features,
    *,
    least: float = threshold(6, "points", "convention", "two thirds of them are levels of three"),
    nothing: float = threshold(0.05, "loss", "theory", "right 95 % of the time: -ln 0.95"),
    gone: float = threshold(0.1, "of the first level", "convention", "a fall to a tenth"),
    risen: float = threshold(1.5, "x the first level", "convention", "beyond the usual swings"),
    sure: float = threshold(
        4.6, "loss", "theory", "fake samples are seen through 99 % of the time: -ln 0.01"
    ),
    stays: float = threshold(0.9, "of the last third", "convention", "lasting, not in single points"),
    soon: float = threshold(1000, "steps", "convention", "a discriminator often leads for some hundred"),
) -> Iterator[Evidence]:
    """The discriminator loss stays near zero, and the generator loss has risen.

    ## What it sees
    A log that names the losses of both networks. In the last third of the run the discriminator loss is at or
    below 0.05, or at a tenth of its first level, in 90 % of the points. The generator loss ends at 1.5 times
    its first level or more, or is 4.6 or more throughout. The reverse is reported too: the generator loss is at
    most 0.05 and the discriminator loss at least 4.6 in 90 % of all points. Losses below zero (the critic of a
    Wasserstein GAN) are not judged. Severity is medium, and low in the first 1,000 steps,
    unless the generator loss never changes.

    ## Why it matters
    A discriminator that is always right saturates. The generator learns only from its gradient, which
    vanishes.

    ## When it is wrong
    Early in a run the discriminator often leads for some hundred steps. The generated samples decide.

    ## What to try
    Lower the learning rate of the discriminator or train it less often. Smooth its labels, add noise to its
    inputs, use spectral normalization, or a loss that does not saturate.

    ## Sources
    Goodfellow et al. (2014), Generative adversarial networks, arXiv:1406.2661. Arjovsky and Bottou (2017),
    Towards principled methods for training generative adversarial networks, arXiv:1701.04862.
    """
    if not features.is_duel:
        raise CannotJudge("needs the losses of a generator and of a discriminator")
    losers, others = (
        player_losses(features, "discriminator", least),
        player_losses(features, "generator", least),
    )
    for curve in losers:
        tail = curve.values[-(curve.n // 3) :]
        if curve.values.min() < 0 or float(np.mean(tail <= max(nothing, gone * curve.start))) < stays:
            continue
        for other in others:
            lost = other.start >= sure and float(np.mean(other.values[-(other.n // 3) :] >= sure)) >= stays
            if other.values.min() >= 0 and (lost or other.end > risen * max(other.start, nothing)):
                saturated = np.ptp(other.values) == 0  # no lead that can be made up for
                early = run.axis == "step" and (run.last_step or 0.0) < soon and not saturated
                yield evidence(curve, other, float(median(tail)), early)
                return
    for curve, other in ((g, d) for g in others for d in losers):
        fooled = float(np.mean(other.values >= sure)) >= stays
        if fooled and curve.values.min() >= 0 and float(np.mean(curve.values <= nothing)) >= stays:
            yield evidence(curve, other, float(median(curve.values)), False)
            return


def player_losses(features: Features, player: str, least: float) -> list[Curve]:
    """The losses of one player with enough points."""
    named = [
        n
        for n in features.run.series
        if player_of(n) == player and ("loss" in words_of(n) or n.endswith(("loss", "_d", "_g")))
    ]
    return [c for n in named if (c := features.curve(n)) is not None and c.n >= least]


def evidence(curve: Curve, other: Curve, low: float, early: bool) -> Evidence:
    last = float(curve.steps[-1])
    return Evidence(
        onset=curve.step_at(curve.n - curve.n // 3),
        last=last,
        where=curve.name,
        severity="low" if early else None,
        strength=1.0,
        values={
            "player": player_of(curve.name),
            "falls": "fell to" if curve.start > low else "stays at",
            "loser": curve.name,
            "low": low,
            "other": other.name,
            "course": f"rose from {other.start:.3g} to {other.end:.3g}"
            if other.end > other.start
            else f"stays at {other.end:.3g}",
        },
        points=(
            EvidencePoint(curve.name, last, low, curve.start),
            other.point(-1, other.end, other.start),
        ),
    )
