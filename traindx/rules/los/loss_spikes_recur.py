"""LOS008 loss-spikes-recur."""

from traindx.features.curves.spike_outcomes import (
    companion_curves,
    curve_spikes,
    is_rough,
    regular_interval,
    towers,
)
from traindx.features.curves.spikes import Spike
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, Severity, np, rule, threshold

BATCHES = frozenset({"batch", "batch_idx", "batch_index", "batch_id", "batch_nr", "batch_no"})
RISE = 0.2  # of the rate before: a step of a schedule


@rule(
    code="LOS008",
    needs=("objective",),
    min_points=20,
    severity="medium",
    message="{name} spiked {count} times (first at step {onset:g}, highest {peak:.4g}){rhythm}",
    follows=("loss-diverges", "loss-repeats-each-epoch", "loss-oscillates"),
)
def loss_spikes_recur(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(8.0, "x robust noise", "convention", "heavy tails raise it further"),
    visible: float = threshold(0.08, "of the curve's range", "convention", "smaller ones do not matter"),
    many: float = threshold(3, "spikes", "convention", "two may be chance"),
    heavy: float = threshold(
        0.5, "of all that was gained", "convention", "a spike that undoes half of the progress"
    ),
    visibly: float = threshold(0.5, "of the level", "convention", "half as much again, if there are many"),
    rarely: float = threshold(6, "spikes", "convention", "fewer are harmless unless they are high"),
    high: float = threshold(2.0, "of the level", "convention", "2-3x the running average does no harm"),
    seldom: float = threshold(0.01, "of the points", "convention", "rarer ones cost no progress"),
    late: float = threshold(0.5, "of the run", "convention", "later ones are not due to the warm-up"),
    large: float = threshold(
        3.0, "x the level before", "convention", "2-3x the running average does no harm"
    ),
    enough: float = threshold(50, "points", "convention", "of a curve that is not the objective"),
    least: float = threshold(
        0.01, "of the objective", "convention", "a smaller part of a loss does no harm"
    ),
) -> Iterator[Evidence]:
    """The loss spikes three times or more.

    ## What it sees
    At least three spikes, measured as in `loss-spikes-and-recovers`, from which the curve came down again.
    Severity:

    - medium if they continue in the second half of the run, hold at least 1 % of the points, and one is as high
      as half of the progress and of the level (with fewer than six spikes: twice the level);
    - medium if the objective was at 100 times its first level for a tenth of the run;
    - low if one reaches 4 times the level of the objective;
    - info otherwise. If the objective has no spikes, validation losses, parts of the loss and adversarial
      losses are checked. Theirs are medium if they continue and reach 10 times the usual size.

    A fixed interval between the spikes is reported, and so is what all of them share: a rise of the learning
    rate right before, or the same value in a column of batch numbers.

    ## Why it matters
    Repeated spikes cost progress, often grow, and may end in divergence. A fixed interval points to a batch,
    a schedule or an evaluation.

    ## When it is wrong
    Losses with very heavy tails, and adversarial training.

    ## What to try
    Log the gradient norm. Check whether the same batch is at every spike. Lower the peak learning rate, or
    clip gradients.

    ## Sources
    Chowdhery et al. (2022), PaLM, section 5.1, arXiv:2204.02311. Zhang et al. (2022), OPT: open pre-trained
    transformer language models, section 2.5, arXiv:2205.01068. Le Scao et al. (2022), BLOOM,
    arXiv:2211.05100.
    """
    curve = features.needed_curve("objective")
    for other in (curve, *companion_curves(features, least=int(enough))):
        found = [] if other.sign < 0 else passing_spikes(other, multiple, visible)
        if len(found) < many:
            continue
        highest = max(found, key=lambda s: s.height)
        seen = visibly if len(found) >= rarely else high
        serious = highest.height > max(heavy * (other.start - other.best), seen * abs(highest.before))
        serious &= found[-1].first > late * other.n and sum(map(points_of, found)) >= seldom * other.n
        # Another curve than the objective counts only if its spikes are far above everything else in it.
        far = len(towers(other, found)) >= many and highest.before + highest.height > least * abs(curve.end)
        serious = (serious or stood_high(other)) if other is curve else serious and far
        tall = other is curve and any(s.height > large * abs(s.before) for s in found)
        yield recurring_evidence(
            features, other, found, "medium" if serious else "low" if tall else "info", int(many)
        )
        return


def passing_spikes(curve: Curve, multiple: float, visible: float) -> list[Spike]:
    """The spikes from which the curve came down again; of a rough curve, those far above everything else in it."""
    found = curve_spikes(curve, multiple=multiple, visible=visible)
    found = towers(curve, found) if is_rough(curve, found) else found
    return [s for s in found if came_down(curve, s)]


def points_of(spike: Spike) -> int:
    return spike.last - spike.first + 1


def stood_high(
    curve: Curve,
    *,
    times: float = threshold(
        100.0, "x the first level", "convention", "no task makes a loss that much harder"
    ),
    lasting: float = threshold(0.1, "of the points", "convention", "more than a single spike"),
    first: float = threshold(0.1, "of the points", "convention", "what counts as the start of the run"),
) -> bool:
    """Whether a loss was far above its first level for a good part of the run, although it came down in the end."""
    level = float(np.median(curve.as_loss[: max(3, int(first * curve.n))]))
    return level > 0 and bool(np.mean(curve.trend > times * level) >= lasting)


def came_down(curve: Curve, spike: Spike) -> bool:
    """Whether the curve returned to the lower half of a spike, however late."""
    later = curve.as_loss[spike.last + 1 :]
    return spike.recovered or not len(later) or bool(later.min() < spike.before + spike.height / 2)


def spike_start(curve: Curve, spike: Spike) -> int:
    """The first point of a spike that is above half of its height: the curve may have crept up to it."""
    rise = curve.as_loss[spike.first : spike.peak + 1]
    return spike.first + int(np.argmax(rise >= spike.before + spike.height / 2))


def coincidence(features: Features, steps: list[float]) -> tuple[str, tuple[str, ...]]:
    """What all spikes that begin at `steps` have in common, for the message and as an aspect: the same batch of each
    epoch, or a rise of the learning rate right before; nothing for neither."""
    lr = features.curve("lr")
    if lr is not None and lr.n > 1:
        rises = lr.steps[1:][np.diff(lr.values) > RISE * np.abs(lr.values[:-1])]
        gap = 2 * float(np.median(np.diff(lr.steps)))
        if 0 < len(rises) <= 2 * len(steps) and all(
            np.any((s - rises >= 0) & (s - rises <= gap)) for s in steps
        ):
            return ", each time right after the learning rate rose", ("rate-rises",)
    for name in features.run.series:
        batch = features.curve(name)
        if name.rpartition("/")[2].lower() not in BATCHES or batch is None:
            continue
        values = batch.at_steps(np.array(steps))
        if np.ptp(values) == 0 and np.ptp(batch.values) > 0:
            return f", each time at {name} {values[0]:g}", ("same-batch",)
    place = place_in_epoch(features, np.array(steps))
    return (
        (f", each time at point {place + 1} of an epoch", ("same-batch",)) if place is not None else ("", ())
    )


def place_in_epoch(
    features: Features,
    steps: np.ndarray,
    *,
    long: float = threshold(10, "points", "convention", "in shorter epochs, places coincide by chance"),
) -> int | None:
    """The place in its epoch, counted from 0, at which all spikes that begin at `steps` are, each in another one."""
    epochs = features.curve("epoch")
    if epochs is None or epochs.n < long:
        return None
    starts = np.concatenate([[0], np.flatnonzero(np.diff(epochs.values) > 0) + 1])
    points = np.searchsorted(epochs.steps, steps)
    inside = np.searchsorted(starts, points, side="right") - 1
    places = points - starts[inside]
    apart = len(set(inside)) == len(steps) and epochs.n >= long * len(starts)
    return int(places[0]) if apart and np.ptp(places) == 0 and places[0] > 0 else None


def recurring_evidence(
    features: Features, curve: Curve, found: list[Spike], severity: Severity, shown: int
) -> Evidence:
    """The evidence of one curve's spikes."""
    rhythm = regular_interval(found)
    starts = [curve.step_at(spike_start(curve, spike)) for spike in found]
    onset = starts[0]
    peaks = [s.before + s.height for s in found]
    interval = f", about every {rhythm:.3g} points" if rhythm else ""
    shared, aspects = coincidence(features, starts)
    return Evidence(
        onset=onset,
        last=curve.step_at(found[-1].last),
        severity=severity,
        strength=min(1.0, 0.5 + len(found) / (4 * shown)),
        aspects=("periodic" if rhythm else "many", *aspects),
        values={
            "name": curve.name,
            "count": len(found),
            "onset": onset,
            "peak": max(peaks),
            "rhythm": interval + shared,
        },
        points=tuple(curve.point(s.peak, p, s.before) for s, p in zip(found[:shown], peaks, strict=False)),
    )
