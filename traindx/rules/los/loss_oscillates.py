"""LOS006 loss-oscillates."""

from traindx.features.curves.oscillation import Swing, clip_outliers, remove_trend, strongest_swing, tosses
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, api, np, rule, threshold

MEANS = ("mean", "avg", "average")


@rule(
    code="LOS006",
    needs=("objective",),
    min_points=8,
    severity="medium",
    persistence="slow",
    message="{name} oscillates by {amplitude:.3g} ({kind}, every {period:.3g} points), {part}",
    follows=("loss-diverges", "loss-repeats-each-epoch", "learning-rate-jumps"),
)
def loss_oscillates(
    run: Run,
    features: Features,
    *,
    chance: float = threshold(1e-4, "p-value under white noise", "theory", "Fisher's test"),
    explained: float = threshold(
        0.25, "of the variance around the trend", "convention", "visible in a plot"
    ),
    large: float = threshold(0.15, "of the fall so far", "convention", "smaller ones do no harm"),
    erratic: float = threshold(
        0.15, "of the range gained", "convention", "the last evaluation is unreliable"
    ),
    enough: float = threshold(24, "evaluations", "convention", "fewer do not show scatter"),
    visible: float = threshold(0.03, "of the level", "convention", "less changes the third digit only"),
    growing: float = threshold(1.5, "x the earlier amplitude", "convention", "overshoot that grows"),
    few: float = threshold(24, "points", "theory", "fewer show no period"),
    wild: float = threshold(0.5, "of the level", "convention", "averages that change by half"),
    often: float = threshold(6, "swings", "convention", "three times up and down"),
    twice: float = threshold(2.0, "x the evaluation before", "convention", "doubles, and halves again"),
) -> Iterator[Evidence]:
    """The loss oscillates without progress.

    ## What it sees
    In the later two thirds of the run, a period or points that alternate up and down, which white noise
    would show with p < 0.0001. The oscillation must explain 25 % of the variance around the trend and be as
    large as 15 % of what the run gained. Severity is medium if the run makes no progress, and low otherwise.
    Three more forms are reported:

    - `tossed`: in a log of few points, or a mean reward, six swings across a range of half the level,
      without a gain;
    - `erratic`: a validation score that scatters by 15 % of its gain between evaluations (info; low from 50
      % on);
    - `erratic` as well: a validation loss that doubles three times and halves three times between
      evaluations (info: that rises by a quarter and falls back as often).

    ## Why it matters
    The steps overshoot: the optimizer jumps across the valley instead of following it.

    ## When it is wrong
    Noise alone is not reported, and neither is a period of one epoch: running means, and data in a fixed
    order, cause a saw-tooth. If epochs are not logged, a pattern that repeats better after several periods
    than after one is taken for such an order. Cyclic schedules, adversarial losses and alternating
    evaluation sets oscillate on purpose.

    ## What to try
    Halve the learning rate or the momentum, or double the batch size.

    ## Sources
    Fisher (1929), Tests of significance in harmonic analysis, doi:10.1098/rspa.1929.0151. Zhang et al.
    (2021), AUTOTRAINER (oscillating loss), doi:10.1109/ICSE43902.2021.00043.
    """
    held_out = erratic_scores(features, erratic, enough, visible) or up_and_down(
        features, twice, often / 2, enough
    )
    yield from held_out
    curve = features.needed_curve("objective")
    tossed = None if features.is_duel else tossed_mean(features, curve, few, wild, often)
    if tossed is not None:
        yield tossed
    elif curve.n >= few:
        yield from regular_oscillation(features, curve, (chance, explained, large, growing))
    elif not held_out:
        raise api.CannotJudge("too few points to exclude an oscillation")


def regular_oscillation(
    features: Features, curve: api.Curve, bars: tuple[float, float, float, float]
) -> Iterator[Evidence]:
    """An oscillation with a period, or from point to point, in the later two thirds of a curve."""
    chance, explained, large, growing = bars
    y = curve.as_loss[curve.n // 3 :]
    found = strongest_swing(y)
    if found is None or found.amplitude == 0:
        raise api.CannotJudge("too few points, or points that do not vary")
    scale = max(api.improvement(curve)[0], 2 * found.amplitude)
    if found.p_value > chance or found.share < explained or 2 * found.amplitude < large * scale:
        return
    # A reward also swings with what the agent explores; without any gain `tossed` reports it.
    stuck = api.slope(y).change > -2 * found.amplitude and not features.is_reinforcement
    if found.kind == "periodic" and (
        is_epoch(features, curve, found.period) or is_part_of_longer(y, found.period)
    ):
        return
    if found.kind != "alternating" or stuck:
        yield oscillation_evidence(curve, y, found, scale, stuck=stuck, growing=is_growing(y, growing))


def is_part_of_longer(y: np.ndarray, period: float, *, sigmas: float = 3.0) -> bool:
    """Whether an oscillation is part of a pattern that repeats after several of its periods, such as a fixed
    data order. The autocorrelation of a plain oscillation decays with the lag. If a later period correlates
    better than an earlier one, by `sigmas` standard errors, the pattern is longer."""
    residual = clip_outliers(remove_trend(y))
    lags = [round(k * period) for k in range(1, int(len(y) / 2 / period) + 1)]
    similar = np.array([api.autocorrelation(residual, lag) for lag in lags])
    return bool(
        len(similar) > 1 and (similar - np.minimum.accumulate(similar)).max() > sigmas / len(y) ** 0.5
    )


def oscillation_evidence(
    curve: api.Curve, y: np.ndarray, found: Swing, scale: float, *, stuck: bool, growing: bool
) -> Evidence:
    """The evidence of an oscillation of `y`, the later points of a curve. `scale` is what its size is
    compared with."""
    marks = [found.kind, *(["no-progress"] if stuck else []), *(["growing"] if growing else [])]
    values = {
        "name": curve.name,
        "kind": found.kind,
        "period": found.period,
        "amplitude": 2 * found.amplitude,
    }
    size = 2 * found.amplitude / scale  # 1 where the swing is at least as large as the improvement
    return Evidence(
        onset=curve.step_at(curve.n - len(y)),
        last=float(curve.steps[-1]),
        aspects=tuple(marks),
        severity="medium" if stuck else "low",
        strength=min(1.0, 0.5 + found.share),
        values={
            **values,
            "part": f"{size:.0%} of its improvement" + " or more" * (size >= 1),
        },
        points=swing_point(curve.name, curve.step_at(curve.n - 1), found),
    )


def tossed_mean(
    features: Features, curve: api.Curve, few: float, wild: float, often: float
) -> Evidence | None:
    """A mean (over an epoch, over episodes) or a short curve that oscillates over a large range without a
    gain. Single batches and single episodes scatter as widely in healthy runs."""
    words = features.run.originals.get(curve.name, curve.name).lower()
    means = any(w in words for w in MEANS)
    if curve.sign < 0 and not means:
        return None
    if curve.n >= few and not (means and curve.sign < 0):
        return None  # a period would show
    averaged = means or features.run.axis == "epoch"
    found, half = tosses(curve.values), curve.n // 2
    size = found.high - found.low
    gained = max(curve.start, float(api.median(curve.as_loss[:half]))) - float(
        api.median(curve.as_loss[half:])
    )
    if found.times < often or size < wild * float(api.median(np.abs(curve.values))) or gained > size / 4:
        return None
    return Evidence(
        onset=curve.step_at(0),
        last=float(curve.steps[-1]),
        severity="medium" if averaged else "low",
        strength=0.5,
        aspects=("tossed", "no-progress"),
        message=f"{curve.name} oscillates between {found.low:.3g} and {found.high:.3g}, "
        f"{found.times} times in {curve.n} points, without progress",
        points=(EvidencePoint(curve.name, float(curve.steps[-1]), size, None, "range"),),
    )


def erratic_scores(features: Features, share: float, enough: float, visible: float) -> list[Evidence]:
    """A validation score (loss, accuracy, reward) that scatters between evaluations by a large part of what
    it gained. Its last value is then unreliable, and its best one is too good by chance."""
    for name in ("val/loss", "val/reward", "val/accuracy"):
        curve = features.curve(name)
        if curve is None or curve.n < enough:
            continue
        scatter = api.difference_noise(curve.as_loss[curve.n // 2 :])
        gained = curve.start - curve.best
        seen = scatter > visible * float(api.median(np.abs(curve.values)))
        if gained <= 0 or not seen or scatter < share * gained or curve.end > curve.best + 3 * scatter:
            continue
        evidence = Evidence(
            onset=curve.step_at(curve.n // 2),
            last=float(curve.steps[-1]),
            aspects=("erratic",),
            severity="info" if scatter < 0.5 * gained else "low",
            strength=0.5 if scatter < 0.5 * gained else 1.0,
            message=f"{name} scatters by {scatter:.3g} between evaluations, {scatter / gained:.0%} "
            "of its improvement",
            points=(EvidencePoint(name, float(curve.steps[-1]), scatter, share * gained, "scatter"),),
        )
        return [evidence]
    return []


def up_and_down(
    features: Features,
    twice: float,
    often: float,
    most: float,
    *,
    large: float = threshold(0.1, "of the first", "convention", "near zero any loss doubles"),
    solved: float = threshold(0.9, "of the way to a perfect score", "convention", "the answers stay right"),
    quarter: float = threshold(1.25, "x the evaluation before", "convention", "clearly seen in a plot"),
) -> list[Evidence]:
    """A validation loss of few evaluations (fewer than `most`) that repeatedly doubles and halves; low where the
    validation score is near perfect, and a note where it only rises by a quarter and falls back."""
    curve = features.curve("val/loss")
    if curve is None or not 0 < curve.n < most or curve.as_loss.min() <= 0:
        return []
    y, times = curve.as_loss, twice
    rises, falls = jumps(y, twice, large * y[0])
    if min(rises, falls) < often:
        (rises, falls), times = jumps(y, quarter, large * y[0]), quarter
    if min(rises, falls) < often:
        return []
    last = float(curve.steps[-1])
    low = y[-1] < twice * y.min() or api.best_skill(features, ("val/",)) >= solved
    course = f"doubles {rises} times and halves {falls} times"
    if times < twice:
        course = f"rises by a quarter or more {rises} times and falls back {falls} times"
    return [
        Evidence(
            onset=curve.step_at(0),
            last=last,
            aspects=("erratic",),
            severity="info" if times < twice else "low" if low else "medium",
            strength=0.5,
            message=f"{curve.name} {course} between evaluations, so its last value {y[-1]:.3g} is unreliable",
            points=(EvidencePoint(curve.name, last, float(y[-1]), float(y.min())),),
        )
    ]


def jumps(y: np.ndarray, times: float, least: float) -> tuple[int, int]:
    """How often values rise and fall by the factor `times` from one to the next, and by at least `least`."""
    change = np.diff(y)
    rises = (y[1:] >= times * y[:-1]) & (change >= least)
    falls = (y[1:] <= y[:-1] / times) & (-change >= least)
    return int(np.sum(rises)), int(np.sum(falls))


def is_epoch(
    features: Features,
    curve: api.Curve,
    period: float,
    *,
    close: float = threshold(0.1, "of the epoch", "convention", "a spectrum has bins"),
) -> bool:
    """Whether a period (points) is the length of an epoch, or of a fixed order of the same batches."""
    known = (features.run.setup.number(name) for name in ("steps_per_epoch", "batches_distinct"))
    lengths = (period, period * float(api.median(np.diff(curve.steps))))  # a point may be several steps
    if any(whole and abs(length / whole - 1) < close for whole in known for length in lengths):
        return True
    epoch = features.curve("epoch")
    if epoch is None or epoch.n < 2 or np.ptp(epoch.values) <= 1:
        return False
    within = (epoch.steps >= curve.steps[0]) & (epoch.steps <= curve.steps[-1])
    length = curve.n / max(float(np.ptp(epoch.values[within])) if within.any() else 0.0, 1.0)
    return abs(period / length - 1) < close


def swing_point(name: str, step: float, found: Swing) -> tuple[EvidencePoint, ...]:
    return (EvidencePoint(name, step, found.share, None, "share of variance in the swing"),)


def is_growing(y: np.ndarray, factor: float) -> bool:
    """Whether the second half scatters `factor` times as much as the first."""
    half = len(y) // 2
    first, second = np.std(np.diff(y[:half])), np.std(np.diff(y[half:]))
    return bool(second > factor * first > 0)
