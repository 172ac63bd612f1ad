"""LOS002 loss-diverges."""

from msgspec.structs import replace

from traindx.features.comparisons.rate_sweep import range_test_of
from traindx.features.curves import improvements
from traindx.features.curves.generalization import rise_after_low
from traindx.features.curves.joint_rise import rises_together
from traindx.rules.api import (
    TREND_PARTS,
    Curve,
    Evidence,
    Features,
    Iterator,
    Run,
    Severity,
    block_medians,
    format_step,
    median,
    median_error,
    np,
    rule,
    threshold,
)

# What lasts longer is no spike (points, share of the points), as in `curves.spikes`.
PATIENCE, PATIENT = 12, 0.05
CONTRADICTED = 0.2  # strength of a rise while another measure improves
SMALL = 0.1  # of a rise: where it has visibly begun, and (from above) nearly ended


@rule(
    code="LOS002",
    needs=("objective",),
    min_points=2,
    severity="high",
    persistence="turning",
    message="{name} went from {best:.4g} at step {onset:g} to {end:.4g} (median at the end) and did "
    "not recover",
    follows=("loss-not-finite", "loss-repeats-each-epoch"),
)
def loss_diverges(
    run: Run,
    features: Features,
    *,
    noise: float = threshold(6.0, "x standard error of the level", "theory", "5 sigma, best of 40"),
    lost: float = threshold(0.5, "of the progress", "convention", "half of what was gained is gone"),
    rise: float = threshold(0.05, "of the level", "convention", "a rise that one sees"),
    sudden: float = threshold(0.05, "of the points", "convention", "a jump, not a drift"),
    ending: float = threshold(0.1, "of the points", "convention", "what counts as the end of the run"),
    nearly: float = threshold(0.8, "of the progress", "convention", "a reward that is back at its start"),
    falling: float = threshold(0.4, "of the rise", "convention", "the end may be the flank of a spike"),
    decade: float = threshold(10.0, "x the best", "convention", "a fall that is seen on a log scale only"),
    times: float = threshold(2.0, "x the level before", "convention", "few points: doubled or worse"),
    few: float = threshold(20, "points", "convention", "more points show a level"),
    visible: float = threshold(
        0.3, "of the best level", "measured", "a rise of this size is never harmless"
    ),
) -> Iterator[Evidence]:
    """The loss ends well above a level that it had already reached.

    ## What it sees
    The median of the last tenth of the run compared with the best level before. The rise must exceed 6
    standard errors of a level, half of the progress made, and 5 % of the best level. Severity is high, and
    critical if the loss ends where it began or above. Three more forms are reported:

    - a rise of 30 % or more that takes back half of what was gained after the first tenth of the run, or a
      quarter if a training loss has been rising for a third of the run (medium);
    - a loss that had fallen to a tenth or less, and lost half of that fall on a logarithmic scale (medium);
    - in a log of fewer than 20 points: a loss that rises at every point to twice its level, five points that
      only rise, by 30 % in all, or a jump to twice all earlier values that lasts;
    - a jump like that within the first tenth of a longer log, without a fall after it (high);
    - a loss above 1e18 in every row (critical).

    A reward or a validation loss must lose 80 % of its progress, because it varies more, and a validation
    loss that rises by less than 30 % is medium. A rise that is no larger than the usual changes of the level
    is not reported.

    ## Why it matters
    A run that diverges does not recover without a change. Every further step is wasted.

    ## When it is wrong
    A deliberate change of the task or of the loss weights in mid-run looks the same. A log that is cut off
    in the middle of a spike has not diverged yet: a falling last tenth is not reported.

    ## What to try
    Go back to the last checkpoint before the rise. Check the learning rate and the gradient norm there.

    ## Sources
    Chowdhery et al. (2022), PaLM (5.1: loss spikes), arXiv:2204.02311. Cohen et al. (2021), Gradient descent on
    neural networks typically occurs at the edge of stability, arXiv:2103.00065.
    """
    curve = features.needed_curve("objective")
    if jumped_at_seam(run) or range_test_of(run) is not None:
        return  # `loss-jumps-on-resume` says why; a range test diverges by design
    climb = rise_in_few_points(features, curve, times, visible, few)
    yield from filter(None, [climb])
    if climb is not None or curve.n < 2 * 3:
        return
    best = curve.best_index
    tail = curve.as_loss[-max(3, int(ending * curve.n)) :]
    end, error = float(median(tail)), median_error(max(curve.noise, curve.spread), len(tail))
    gained, risen = max(curve.start - curve.best, 0.0), end - curve.best
    from_start = gained <= 2 * error + rise * abs(curve.start)
    needed = max(noise * error, lost * gained, rise * abs(curve.best))
    since = max(float(curve.trend[int(ending * curve.n)]) - curve.best, 0.0)  # without the first descent
    lately = risen > max(harmful(curve, lost, best, risen) * since, visible * abs(curve.best), noise * error)
    lately |= end > rise * curve.start and improvements.lost_decades(curve, end, lost, decade, noise)
    unsettled = best >= curve.n - len(tail) or is_coming_back(curve, best, tail, falling * risen)
    if unsettled or not (risen > needed or lately) or wanders(curve, end, nearly * gained, noise * error):
        return
    severity: Severity = "critical" if end >= curve.start - error else "high" if risen > needed else "medium"
    yield from rise_evidence(features, curve, visible, (best, end, from_start, ending, sudden, severity))


def jumped_at_seam(run: Run) -> bool:
    """Whether a question says that the loss is higher since the run was resumed, and shows where that was."""
    declared = any(e.kind == "resume" and e.code == "declared" and e.step is not None for e in run.events)
    return declared and "loss-jumps-on-resume" in run.setup.word("symptoms").split(",")


def rise_evidence(
    features: Features, curve: Curve, visible: float, rise: tuple[int, float, bool, float, float, Severity]
) -> Iterator[Evidence]:
    """The evidence of a rise, unless another measure contradicts it."""
    found, ending = divergence(curve, *rise), rise[3]
    mild = (rise[1] - curve.best) / (visible * abs(curve.best)) if curve.best else 1.0
    # What is held out rises without any instability; it is no explosion before it rises visibly.
    if curve.name.startswith("val/") and curve.sign > 0 and mild < 1:
        found = replace(found, severity="medium", strength=found.strength * mild)
    if curve.name == "val/loss" and "gradual" in found.aspects and features.curve("train/loss") is None:
        grave = "high" if found.severity == "critical" else found.severity
        found = replace(found, severity=grave, aspects=(*found.aspects, "held-out"))
    other = improvements.curve_improving_meanwhile(features, curve, found.onset or 0.0)
    if other is None and (steady := improvements.validation_holds(features, curve, found.onset or 0.0)):
        yield replace(contradicted_evidence(found, steady, "stayed where it was"), severity="info")
    elif other is None:
        yield found
    elif not learns_again(curve, found.onset or 0.0, ending):  # else a term was faded in
        yield contradicted_evidence(found, other)


def contradicted_evidence(found: Evidence, other: Curve, course: str = "improved meanwhile") -> Evidence:
    """The evidence of a rise during which another measure improved or did not follow."""
    low, end = found.points
    return replace(
        found,
        severity="low",
        strength=CONTRADICTED,
        aspects=(*found.aspects, "others-improve"),
        message=f"{low.signal} went from {low.value:.4g} at step {format_step(low.step or 0.0)} to {end.value:.4g} "
        f"(median at the end), although {other.name} {course}: its terms, their weights, the task or the training "
        "samples may have changed",
    )


def learns_again(
    curve: Curve,
    onset: float,
    ending: float,
    *,
    falls: float = threshold(0.8, "of the level after the rise", "convention", "a loss that learns again"),
) -> bool:
    """Whether the rise came within the first part of the run, and the loss falls from then on."""
    first, *_, last = np.array_split(curve.as_loss[curve.steps >= onset], 4)
    early = np.count_nonzero(curve.steps < onset) < ending * curve.n
    return bool(early and median(last) < falls * median(first))


def harmful(
    curve: Curve,
    lost: float,
    best: int,
    risen: float,
    *,
    training: float = threshold(0.5, "x of that", "convention", "a training loss has no reason to rise"),
    lasting: float = threshold(
        0.3, "of the run", "convention", "a brief rise may still pass, or become clear"
    ),
) -> float:
    """The share of its later progress whose loss is no accident: less for a training loss above 0 that has
    long been rising."""
    if curve.name != "train/loss" or curve.best <= 0:
        return lost
    return lost * training if curve.n - onset_index(curve, best, risen) >= lasting * curve.n else lost


def wanders(
    curve: Curve,
    end: float,
    share: float,
    noise: float,
    *,
    parts: float = threshold(20, "parts", "convention", "a twentieth of the run is a level"),
    usual: float = threshold(
        3.0, "x the usual change of level", "theory", "3 times the scatter of the levels"
    ),
    early: float = threshold(0.2, "of the run", "convention", "too few levels to know what is usual"),
    order: float = threshold(0.8, "Kendall's tau", "theory", "5 or more in order: 1 in 120"),
) -> bool:
    """Whether both the fall to the lowest levels and the rise above the first one are of the size by which levels
    change all the time. Running means of rewards and losses of hard batches drift so. Rewards and validation losses
    wander anyway, by up to `share` or twice the `noise`, unless they rise in order: only a training loss must fall."""
    if curve.name != "train/loss" and end - curve.best < max(share, 2 * noise):
        rise = rise_after_low(curve.as_loss) if curve.name == "val/loss" else None
        return rise is None or rise.order < order
    if curve.n < 2 * parts:
        return False
    levels = block_medians(curve.as_loss, int(parts))
    if np.argmin(levels) < early * parts:  # it was learned at once, and lost: no drift
        return False
    second = float(np.sort(levels)[1])  # a single low part is chance
    change = max(float(levels[0]) - second, end - float(levels[0]))
    return change < usual * float(median(np.abs(np.diff(levels))))


def rise_in_few_points(
    features: Features, curve: Curve, times: float, visible: float, few: float
) -> Evidence | None:
    """The rise of a log with fewer than `few` points, of a short curve of perplexity, or after the first points
    of any log."""
    rise = exploded_evidence(curve) or lasting_jump(curve, times, few)
    if rise is None and curve.n < few:
        rise = steady_climb(curve, times, 1 + visible)
    if rise is not None:
        other = improvements.accuracy_best_at_end(features) if curve.n < few else None
        return rise if other is None else contradicted_evidence(rise, other)
    train, val = features.curve("train/loss"), features.curve("val/loss")
    if train is not None and val is not None and curve.n < few and (low := rises_together(train, val)) > 0:
        return joint_climb(train, val, low)
    climbs = (steady_climb(perplexity, times, times) for perplexity in perplexities(features, few))
    return next((climb for climb in climbs if climb is not None), None)


def joint_climb(train: Curve, val: Curve, low: int) -> Evidence:
    """The evidence of two losses that rise together from point `low` on: what overfits falls on its own data."""
    return Evidence(
        onset=train.step_at(low),
        last=train.step_at(train.n - 1),
        severity="medium",
        strength=0.5,
        aspects=("late", "short"),
        message=f"{train.name} rose from {train.values[low]:.4g} at step {format_step(train.step_at(low))} to "
        f"{train.values[-1]:.4g}, and {val.name} from {val.values[low]:.4g} to {val.values[-1]:.4g}",
        points=(train.point(low), train.point(-1), val.point(-1)),
    )


def perplexities(features: Features, few: float) -> list[Curve]:
    """Short curves of perplexity. They are exponential, so a loss that rises by a third may be 50 times the
    perplexity."""
    found = [features.curve(f"{split}/perplexity") for split in ("train", "val")]
    return [c for c in found if c is not None and 2 < c.n < few]


def divergence(
    curve: Curve, best: int, end: float, from_start: bool, ending: float, sudden: float, severity: Severity
) -> Evidence:
    """The evidence of a curve that ends at level `end` after the best at point `best`."""
    risen, gained = end - curve.best, max(curve.start - curve.best, 0.0)
    low = curve.point(lowest_near(curve, best))
    onset = onset_index(curve, best, risen)
    begun = "from-start" if from_start else ("early" if onset < ending * curve.n else "late")
    return Evidence(
        onset=curve.step_at(onset),
        last=float(curve.steps[-1]),
        severity=severity,
        strength=min(1.0, 0.5 + 0.5 * risen / max(gained, risen)),
        aspects=(
            begun,
            "sudden" if settle_length(curve, onset, end) <= max(2, sudden * curve.n) else "gradual",
        ),
        values={"name": curve.name, "best": low.value, "end": end * curve.sign, "onset": low.step},
        points=(low, curve.point(-1, end, low.value * curve.sign)),
    )


def steady_climb(curve: Curve, times: float, less: float) -> Evidence | None:
    """A short log whose end rises at every point, to `times` its level or more.

    Two points must differ by the fourth power of that. If nothing in the log falls, four rises in a row are
    enough with `less` (one order in 120), or with a tenth for a validation loss. With six points or more,
    the rise must exceed the earlier changes.
    """
    y = curve.as_loss
    if curve.sign < 0 or y.min() <= 0:
        return None
    falls = np.flatnonzero(np.diff(y) <= 0)
    low = int(falls[-1]) + 1 if len(falls) else 0
    up = curve.n - 1 - low
    with np.errstate(over="ignore"):
        factor = float(y[-1] / y[low])
    before = np.abs(np.diff(np.log(y[: low + 1])))
    usual = float(median(before)) if len(before) > 3 else 0.0
    alone = up < 2 and not (curve.n == 2 and factor >= times**4)
    enough = less if low == 0 and up >= 4 else times
    if curve.name.startswith("val/") and up >= 4:
        enough = 1 + SMALL  # evaluations are means: five in order are no accident
    if alone or factor < enough or y[-1] < y.max() or np.log(factor) < 3 * usual * np.sqrt(up):
        return None
    above = float(y[-1] / y[0]) >= enough
    return Evidence(
        onset=curve.step_at(low),
        last=float(curve.raw.steps[-1]),  # including points that are not finite
        severity="high" if above else "medium",
        strength=0.5,
        aspects=("from-start" if above else "late", "short"),
        message=f"{curve.name} rose at every point from {y[low]:.4g} at step {format_step(curve.step_at(low))} "
        f"to {y[-1]:.4g} at step {format_step(curve.step_at(curve.n - 1))}",
        points=(curve.point(low), curve.point(-1, float(y[-1]), float(y[low]))),
    )


def lasting_jump(
    curve: Curve,
    times: float,
    few: float,
    *,
    early: float = threshold(0.1, "of the points", "convention", "later jumps show in the levels"),
    falls: float = threshold(0.8, "of the level after the jump", "convention", "a loss that learns again"),
) -> Evidence | None:
    """A log that jumps to another level, where each later value is at least `times` as high as all earlier ones:
    with at least two points before and two after in a short log (or one before, and the fourth power of that), or within
    its first tenth in a longer one."""
    y = curve.as_loss
    if curve.sign < 0 or len(y) < 3 or y.min() <= 0:
        return None
    long = len(y) >= few
    places = range(1, max(2, int(early * len(y))) if long else len(y) - 1)
    lowest_after, highest_until = np.minimum.accumulate(y[::-1])[::-1], np.maximum.accumulate(y)
    factors = (times if long or k > 1 else times**4 for k in places)
    jumps = (
        k for k, by in zip(places, factors, strict=True) if lowest_after[k] >= by * highest_until[k - 1]
    )
    k = next(jumps, None)
    if k is None or y[-1] < y[k:].max() / times:
        return None
    part = len(y) // 4
    # A mean that is divided by a fixed count prints a first value far too low, and falls after it.
    if long and median(y[-part:]) < falls * median(y[k : k + part]):
        return None
    return Evidence(
        onset=curve.step_at(k),
        last=float(curve.raw.steps[-1]),
        severity="high" if len(y) > 4 or lowest_after[k] >= times**4 * highest_until[k - 1] else "medium",
        strength=0.5,
        aspects=("from-start" if long else "late", "short", "sudden"),
        message=f"{curve.name} jumped from {y[k - 1]:.4g} to {y[k]:.4g} at step "
        f"{format_step(curve.step_at(k))} and stayed there",
        points=(curve.point(k - 1), curve.point(k, float(y[k]), float(y[k - 1]))),
    )


def exploded_evidence(
    curve: Curve,
    *,
    beyond: float = threshold(1e18, "loss", "theory", "the root of the largest float32"),
) -> Evidence | None:
    """A loss that no unit explains, from the first value of the log on."""
    if curve.sign < 0 or not curve.n or curve.as_loss.min() < beyond:
        return None
    return Evidence(
        onset=curve.step_at(0),
        last=float(curve.raw.steps[-1]),
        severity="critical",
        strength=1.0,
        aspects=("from-start", "exploded"),
        message=f"{curve.name} is {curve.values[-1]:.4g}: it exploded before this log begins",
        points=(curve.point(-1),),
    )


def lowest_near(curve: Curve, index: int) -> int:
    """The lowest logged point around the low of the trend, which smoothing may have moved."""
    reach = max(2, curve.n // TREND_PARTS)
    first = max(0, index - reach)
    return first + int(np.argmin(curve.as_loss[first : index + reach + 1]))


def is_coming_back(curve: Curve, best: int, tail: np.ndarray, fall: float) -> bool:
    """Whether the end of the run is the falling flank of a spike rather than a new level."""
    half = len(tail) // 2
    risen = float(median(tail)) - curve.best
    brief = curve.n - onset_index(curve, best, risen) <= max(PATIENCE, PATIENT * curve.n)
    return bool(brief and median(tail[half:]) < median(tail[:half]) - fall)


def onset_index(curve: Curve, best: int, risen: float) -> int:
    """The last point after the best at which the trend was still within a tenth of the rise."""
    near = np.flatnonzero(curve.trend[best:] <= curve.best + SMALL * risen)
    return best + (int(near[-1]) if len(near) else 0)


def settle_length(curve: Curve, onset: int, end: float) -> int:
    """Points from the onset until the trend first passes nine tenths of the final rise."""
    bar = curve.best + (1 - SMALL) * (end - curve.best)
    above = np.flatnonzero(curve.trend[onset:] >= bar)
    return int(above[0]) if len(above) else curve.n - onset
