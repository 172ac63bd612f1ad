"""LOS006: the loss swings without getting anywhere."""

from traindx.features.curves.oscillation import Swing, clipped, detrended, swing, tosses
from traindx.features.curves.plateaus import improvement
from traindx.features.statistics.noise import autocorrelation, difference_noise
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
    slope,
    threshold,
)

MEANS = ("mean", "avg", "average")


@rule(
    code="LOS006",
    needs=("objective",),
    min_points=8,
    severity="medium",
    message="{name} swings by {amplitude:.3g} ({kind}, every {period:.3g} points), {fraction:.0%} of all it gained",
    follows=("loss-diverges", "loss-repeats-each-epoch", "learning-rate-jumps"),
)
def loss_oscillates(
    run: Run,
    features: Features,
    *,
    chance: float = threshold(1e-4, "p-value under white noise", "theory", "Fisher's test"),
    explained: float = threshold(0.25, "of the variance around the trend", "convention", "it must be seen"),
    large: float = threshold(0.15, "of the fall so far", "convention", "smaller swings do no harm"),
    erratic: float = threshold(0.15, "of the range gained", "convention", "one evaluation says little"),
    enough: float = threshold(24, "evaluations", "convention", "to tell scatter from a trend"),
    visible: float = threshold(0.03, "of the level", "convention", "less is printed in its third digit"),
    growing: float = threshold(1.5, "x the earlier amplitude", "convention", "overshoot that feeds itself"),
    few: float = threshold(24, "points", "theory", "fewer show no period"),
    wild: float = threshold(0.5, "of the level", "convention", "up and down by half, between averages"),
    often: float = threshold(6, "swings", "convention", "three times there and back"),
    twice: float = threshold(2.0, "x the evaluation before", "convention", "doubled, and halved again"),
) -> Iterator[Evidence]:
    """A regular swing that is large against the progress, in the later two thirds of the run.

    ## What it sees
    Points that alternate up and down, or a period, that white noise would give with p < 0.0001, explain a good part
    of the variance around the trend, and are large against all that the run has gained. Of few points, and of mean
    rewards, six swings from one end of the range to the other are told, where the range is half of
    the level and the run gains nothing ("tossed").

    A held-out score that scatters by 15 % of its whole gain between evaluations counts too ("erratic", info; low from
    half of the gain on), and so does a held-out loss that doubles three times and halves three times between
    evaluations.

    ## Why it matters
    Steps that overshoot: the optimizer jumps across the valley instead of going down it.

    ## When it is wrong
    Noise alone is not oscillation and does not fire, nor does a period of one epoch: means since the epoch's start, and
    data that come in the same order, draw a saw-tooth. Where the epoch is not told, a pattern that is like itself after
    several periods more than after fewer is taken for such an order. Cyclic schedules, rising and falling losses of
    adversarial nets and evaluations on alternating data sets swing on purpose.

    ## What to try
    Halve the learning rate, or the momentum, or double the batch.

    ## Sources
    Requirements (oscillates without converging); AutoTrainer's oscillation rule (quiet on healthy runs).
    """
    held_out = erratic_scores(features, erratic, enough, visible) or up_and_down(
        features, twice, often / 2, enough
    )
    yield from held_out
    curve = features.needed_curve("objective")
    tossed = None if features.is_duel else thrown(features, curve, few, wild, often)
    if tossed is not None:
        yield tossed
    elif curve.n >= few:
        yield from regular(features, curve, (chance, explained, large, growing))
    elif not held_out:
        raise CannotJudge("too few points to tell that it does not swing")


def regular(features: Features, curve: Curve, bars: tuple[float, float, float, float]) -> Iterator[Evidence]:
    """A swing with a period, or from point to point, in the later two thirds of a curve."""
    chance, explained, large, growing = bars
    y = curve.oriented[curve.n // 3 :]
    found = swing(y)
    if found is None or found.amplitude == 0:
        raise CannotJudge("too few points, or none that vary")
    scale = max(improvement(curve)[0], 2 * found.amplitude)
    if found.p_value > chance or found.share < explained or 2 * found.amplitude < large * scale:
        return
    stuck = slope(y).change > -2 * found.amplitude
    if found.kind == "periodic" and (
        is_epoch(features, curve, found.period) or is_part_of_longer(y, found.period)
    ):
        return
    if found.kind != "alternating" or stuck:
        yield swings(curve, y, found, scale, stuck=stuck, growing=grows(y, growing))


def is_part_of_longer(y: np.ndarray, period: float, *, sigmas: float = 3.0) -> bool:
    """Whether a swing is the beat of something that comes again after several of its periods: a swing by itself is less
    and less like itself the further it is moved, so a later period that is more alike than an earlier one, by
    `sigmas` standard errors of an autocorrelation, is none of it."""
    residual = clipped(detrended(y))
    lags = [round(k * period) for k in range(1, int(len(y) / 2 / period) + 1)]
    alike = np.array([autocorrelation(residual, lag) for lag in lags])
    return bool(len(alike) > 1 and (alike - np.minimum.accumulate(alike)).max() > sigmas / len(y) ** 0.5)


def swings(
    curve: Curve, y: np.ndarray, found: Swing, scale: float, *, stuck: bool, growing: bool
) -> Evidence:
    """A swing of `y`, the later points of a curve; `scale` is what it is large against."""
    marks = [found.kind, *(["no-progress"] if stuck else []), *(["growing"] if growing else [])]
    values = {
        "name": curve.name,
        "kind": found.kind,
        "period": found.period,
        "amplitude": 2 * found.amplitude,
    }
    return Evidence(
        onset=curve.step_at(curve.n - len(y)),
        last=float(curve.steps[-1]),
        aspects=tuple(marks),
        severity="medium" if stuck else "low",
        strength=min(1.0, 0.5 + found.share),
        values={**values, "fraction": 2 * found.amplitude / scale},
        points=point(curve.name, curve.step_at(curve.n - 1), found),
    )


def thrown(features: Features, curve: Curve, few: float, wild: float, often: float) -> Evidence | None:
    """A mean (over an epoch, over episodes) or a short curve that goes to and fro over a large range and gains nothing.
    Single batches and single episodes scatter as widely in healthy runs."""
    words = features.run.originals.get(curve.name, curve.name).lower()
    means = any(w in words for w in MEANS)
    if curve.sign < 0 and not means:
        return None
    if curve.n >= few and not (means and curve.sign < 0):
        return None  # a period would show
    averaged = means or features.run.axis == "epoch"
    found, half = tosses(curve.values), curve.n // 2
    size = found.high - found.low
    gained = float(median(curve.oriented[:half]) - median(curve.oriented[half:]))
    if found.times < often or size < wild * float(median(np.abs(curve.values))) or gained > size / 4:
        return None
    return Evidence(
        onset=curve.step_at(0),
        last=float(curve.steps[-1]),
        severity="medium" if averaged else "low",
        strength=0.5,
        aspects=("tossed", "no-progress"),
        message=f"{curve.name} goes to and fro between {found.low:.3g} and {found.high:.3g}, {found.times} times in "
        f"{curve.n} points, and gains nothing",
        points=(EvidencePoint(curve.name, float(curve.steps[-1]), size, None, "range"),),
    )


def erratic_scores(features: Features, share: float, enough: float, visible: float) -> list[Evidence]:
    """A held-out score (loss, accuracy, reward) that scatters from one evaluation to the next by a good
    part of all it has gained: the last value says little, the best one less than it seems."""
    for name in ("val/loss", "val/reward", "val/accuracy"):
        curve = features.curve(name)
        if curve is None or curve.n < enough:
            continue
        scatter = difference_noise(curve.oriented[curve.n // 2 :])
        gained = curve.start - curve.best
        seen = scatter > visible * float(median(np.abs(curve.values)))
        if gained <= 0 or not seen or scatter < share * gained or curve.end > curve.best + 3 * scatter:
            continue
        told = Evidence(
            onset=curve.step_at(curve.n // 2),
            last=float(curve.steps[-1]),
            aspects=("erratic",),
            severity="info" if scatter < 0.5 * gained else "low",
            strength=0.5 if scatter < 0.5 * gained else 1.0,
            message=f"{name} scatters by {scatter:.3g} between evaluations, {scatter / gained:.0%} of all it gained",
            points=(EvidencePoint(name, float(curve.steps[-1]), scatter, share * gained, "scatter"),),
        )
        return [told]
    return []


def up_and_down(
    features: Features,
    twice: float,
    often: float,
    most: float,
    *,
    large: float = threshold(0.1, "of the first", "convention", "near nothing, any loss doubles"),
) -> list[Evidence]:
    """A held-out loss of few evaluations (fewer than `most`) that doubles and halves again and again."""
    curve = features.curve("val/loss")
    if curve is None or not 0 < curve.n < most or curve.oriented.min() <= 0:
        return []
    y, change = curve.oriented, np.diff(curve.oriented)
    rises = int(np.sum((y[1:] >= twice * y[:-1]) & (change >= large * y[0])))
    falls = int(np.sum((y[1:] <= y[:-1] / twice) & (-change >= large * y[0])))
    if min(rises, falls) < often:
        return []
    last = float(curve.steps[-1])
    return [
        Evidence(
            onset=curve.step_at(0),
            last=last,
            aspects=("erratic",),
            severity="medium" if y[-1] >= twice * y.min() else "low",
            strength=0.5,
            message=f"{curve.name} at least doubles {rises} times from one evaluation to the next, and halves {falls} "
            f"times: its last value, {y[-1]:.3g}, says little",
            points=(EvidencePoint(curve.name, last, float(y[-1]), float(y.min())),),
        )
    ]


def is_epoch(
    features: Features,
    curve: Curve,
    period: float,
    *,
    close: float = threshold(0.1, "of the epoch", "convention", "a spectrum has bins"),
) -> bool:
    """Whether a period (points) is the length of an epoch."""
    epoch = features.curve("epoch")
    if epoch is None or epoch.n < 2 or np.ptp(epoch.values) <= 1:
        return False
    within = (epoch.steps >= curve.steps[0]) & (epoch.steps <= curve.steps[-1])
    length = curve.n / max(float(np.ptp(epoch.values[within])) if within.any() else 0.0, 1.0)
    return abs(period / length - 1) < close


def point(name: str, step: float, found: Swing) -> tuple[EvidencePoint, ...]:
    return (EvidencePoint(name, step, found.share, None, "share of variance in the swing"),)


def grows(y: np.ndarray, factor: float) -> bool:
    """Whether the second half scatters `factor` times as much as the first."""
    half = len(y) // 2
    first, second = np.std(np.diff(y[:half])), np.std(np.diff(y[half:]))
    return bool(second > factor * first > 0)
