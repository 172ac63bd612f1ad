"""OBJ007 opponents-do-not-compete."""

from msgspec.structs import replace

from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, api, median, np, rule, threshold
from traindx.rules.los.discriminator_wins import player_losses


@rule(
    code="OBJ007",
    needs=("train/*",),
    min_points=9,
    severity="high",
    persistence="steady",
    message="{message}",
)
def opponents_do_not_compete(
    run: Run,
    features: Features,
    *,
    least: float = threshold(9, "points", "convention", "three for each third"),
    nothing: float = threshold(0.05, "loss", "theory", "right 95 % of the time: -ln 0.95"),
    gone: float = threshold(0.1, "of the first level", "convention", "a fall to a tenth"),
    risen: float = threshold(1.5, "x the first level", "convention", "beyond the usual swings"),
    vast: float = threshold(1e4, "loss", "measured", "critics that work stay below 1,000"),
    steep: float = threshold(1e3, "loss below 0", "measured", "critics that work stay below 100"),
    closer: float = threshold(0.9, "of the largest distance", "measured", "critics that work: 0.1 to 0.5"),
    enough: float = threshold(30, "points", "convention", "ten for each third"),
    growing: float = threshold(2.0, "x the third before", "convention", "no bound in sight"),
    stays: float = threshold(0.9, "of the last third", "convention", "lasting, not in single points"),
) -> Iterator[Evidence]:
    """Generator and discriminator do not compete: both win, one does not answer or catch up, or nothing bounds them.

    ## What it sees
    A log that names the losses of both networks. One of four forms is reported:

    - `agree`: in the last third both losses stay below 0.05, so both get what they want;
    - `fooled`: the generator loss has fallen to a tenth, and the discriminator loss is 1.5 times its first
      level;
    - `unbounded`: a loss is beyond 10,000 and twice the level of the third before, as that of a critic whose
      gradient nothing limits. If losses below zero show a critic, one is beyond 1,000 and twice the level of
      the first third;
    - `apart` (low): the loss of a critic, which is the negative distance between generated and real samples, is in
      the last third at 90 % of its largest level or more, so the samples come no closer.

    ## Why it matters
    The generator learns only from an opponent that resists. Without one, its samples become arbitrary.

    ## When it is wrong
    Losses that are summed over many outputs may be large, but do not double.

    ## What to try
    `agree`: the generator is rewarded for samples that the discriminator rejects; its labels must be those of
    real samples. `fooled`: check that the optimizer of the discriminator steps, and lower the rate of the
    generator. `apart`: lower both learning rates. `unbounded`: add a gradient penalty or spectral normalization,
    and check the signs.

    ## Sources
    Goodfellow et al. (2014), Generative adversarial networks, arXiv:1406.2661. Gulrajani et al. (2017),
    Improved training of Wasserstein GANs, arXiv:1704.00028.
    """
    if not features.is_duel:
        raise api.CannotJudge("needs the losses of a generator and of a discriminator")
    makers, judges = (player_losses(features, player, least) for player in ("generator", "discriminator"))
    for maker in makers:
        for judge in judges:
            late, last = tail(maker), tail(judge)
            if min(maker.values.min(), judge.values.min()) < 0:
                continue
            if float(np.mean(late <= nothing)) >= stays and float(np.mean(last <= nothing)) >= stays:
                yield evidence(maker, "agree", f"{maker.name} and {judge.name} both stay below {nothing:g}")
                return
            lost = (
                median(late) <= gone * max(maker.start, maker.values[0])
                and median(last) >= risen * judge.start > 0
            )
            if lost and float(np.mean(last >= judge.start)) >= stays:
                yield evidence(maker, "fooled", f"{maker.name} fell to {median(late):.3g}, and {judge.name} rose from "
                               f"{judge.start:.3g} to {median(last):.3g}: the discriminator does not answer")  # fmt: skip
                return
    yield from sizes(judges, makers, vast, steep, growing, closer, enough)


def sizes(
    judges: list[Curve], makers: list[Curve], vast: float, steep: float, growing: float, closer: float,
    enough: float,
) -> Iterator[Evidence]:  # fmt: skip
    """What the sizes of the losses show: nothing bounds them, or the distance to the real samples does not shrink."""
    critic = next((c for c in judges if c.n >= enough and median(tail(c)) < 0), None)
    for curve in (*judges, *makers):
        first, middle, end = levels(curve)
        if end > max(vast, growing * middle) or (critic and end > max(steep, growing * first)):
            yield evidence(
                curve, "unbounded", f"{curve.name} has reached {curve.values[-1]:.3g}: nothing bounds it"
            )
            return
    if critic and levels(critic)[2] >= closer * max(levels(critic)):
        size = f"{critic.name} is still at {critic.end:.3g}: the samples come no closer to the real ones"
        # A critic that works may be level for long, too.
        yield replace(evidence(critic, "apart", size), severity="low", strength=1 / 4)


def levels(curve: Curve) -> list[float]:
    """The median size of each third."""
    third = curve.n // 3
    return [
        float(median(np.abs(part)))
        for part in (curve.values[:third], curve.values[third:-third], tail(curve))
    ]


def tail(curve: Curve) -> api.Floats:
    return curve.values[-(curve.n // 3) :]


def evidence(curve: Curve, aspect: str, message: str) -> Evidence:
    last = float(curve.steps[-1])
    return Evidence(
        onset=curve.step_at(curve.n - curve.n // 3),
        last=last,
        where=curve.name,
        aspects=(aspect,),
        values={"message": message},
        points=(api.EvidencePoint(curve.name, last, float(curve.values[-1]), curve.start),),
    )
