"""LOS008: the loss spikes again and again."""

from traindx.features.curves.spike_outcomes import (
    companion_curves,
    curve_spikes,
    is_rough,
    regular_interval,
    towers,
)
from traindx.features.curves.spikes import Spike
from traindx.rules.api import Curve, Evidence, Features, Iterator, Run, Severity, rule, threshold


@rule(
    code="LOS008",
    needs=("objective",),
    min_points=20,
    severity="medium",
    message="{name} spikes {count} times (first at step {onset:g}, highest {peak:.4g}){rhythm}",
    follows=("loss-diverges", "loss-repeats-each-epoch", "loss-oscillates"),
)
def loss_spikes_recur(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(
        8.0, "x robust noise", "convention", "runmedic uses 8; heavy tails raise it by themselves"
    ),
    visible: float = threshold(
        0.08, "of the curve's range", "convention", "smaller bumps are not worth a line"
    ),
    many: float = threshold(3, "spikes", "convention", "two may be chance"),
    heavy: float = threshold(
        0.5, "of all that was gained", "convention", "a spike that undoes half of the training"
    ),
    visibly: float = threshold(0.5, "of the level", "convention", "half as much again"),
    seldom: float = threshold(0.01, "of the points", "convention", "rarer ones cost no progress"),
    late: float = threshold(0.5, "of the run", "convention", "spikes that go on are not those of warm-up"),
    large: float = threshold(3.0, "x the level before", "seed", "2-3x the running average is benign"),
    enough: float = threshold(50, "points", "convention", "of a curve that is not the objective"),
) -> Iterator[Evidence]:
    """Three or more spikes, each far out of the noise.

    ## What it sees
    As for single spikes; at least three of them, from which the curve came down again (a curve that only climbs has
    none). Medium when they go on in the second half of the run and some are as high as half of all that was gained and
    half of the level, and the points in them are one in a hundred; else low where one goes to four times the level,
    info where none does. Where the objective is calm, the held-out loss, the parts of the loss and the players of a
    game are looked at as well (info; medium where they go on and tower tenfold). When they come at a fixed interval,
    that is said.

    ## Why it matters
    Repeated spikes cost progress, often grow, and end in divergence. A fixed interval points to a batch, a schedule
    or an evaluation.

    ## When it is wrong
    Very heavy-tailed losses; adversarial training.

    ## What to try
    Log the gradient norm; look for the same batch at every spike; lower the peak learning rate; clip.

    ## Sources
    Requirements (loss spikes regularly); bigscience chronicles; peers.md.
    """
    curve = features.needed_curve("objective")
    for other in (curve, *companion_curves(features, least=int(enough))):
        if other.sign < 0:
            continue
        found = curve_spikes(other, multiple=multiple, visible=visible)
        found = towers(other, found) if is_rough(other, found) else found
        found = [s for s in found if came_down(other, s)]
        if len(found) < many:
            continue
        highest = max(found, key=lambda s: s.height)
        serious = highest.height > heavy * (other.start - other.best) and found[-1].first > late * other.n
        serious = serious and highest.height > visibly * abs(highest.before)
        serious = serious and sum(s.last - s.first + 1 for s in found) >= seldom * other.n
        # What is not the objective is told for itself only where its spikes tower above all else.
        serious = serious and (other is curve or len(towers(other, found)) >= many)
        tall = sum(s.height > large * abs(s.before) for s in found) >= 1
        mild: Severity = "low" if other is curve and tall else "info"
        yield recurring(other, found, "medium" if serious else mild, int(many))
        return


def came_down(curve: Curve, spike: Spike) -> bool:
    """Whether the curve was at the lower half of a spike again, however much later."""
    later = curve.oriented[spike.last + 1 :]
    return spike.recovered or not len(later) or bool(later.min() < spike.before + spike.height / 2)


def recurring(curve: Curve, found: list[Spike], severity: Severity, shown: int) -> Evidence:
    """The evidence of one curve's spikes."""
    rhythm = regular_interval(found)
    onset = curve.step_at(found[0].first)
    peaks = [s.before + s.height for s in found]
    said = f", about every {rhythm:.3g} points" if rhythm else ""
    return Evidence(
        onset=onset,
        last=curve.step_at(found[-1].last),
        severity=severity,
        strength=min(1.0, 0.5 + len(found) / (4 * shown)),
        aspects=("periodic",) if rhythm else ("many",),
        values={"name": curve.name, "count": len(found), "onset": onset, "peak": max(peaks), "rhythm": said},
        points=tuple(curve.point(s.peak, p, s.before) for s, p in zip(found[:shown], peaks, strict=False)),
    )
