"""LOS007: one or two spikes from which the loss came back."""

from traindx.features.curves.spike_outcomes import companion_curves, curve_spikes, is_rough
from traindx.features.curves.spikes import Spike
from traindx.rules.api import Curve, Evidence, EvidencePoint, Features, Iterator, Run, np, rule, threshold


@rule(
    code="LOS007",
    needs=("objective",),
    min_points=8,
    severity="low",
    message="{name} {goes} to {peak:.4g} at step {onset:g} (from {before:.4g}) and recovers within {settle} points",
    follows=("loss-not-finite", "loss-diverges", "loss-jumps-on-resume"),
)
def loss_spikes_and_recovers(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(
        8.0, "x robust noise", "convention", "runmedic uses 8; heavy tails raise it by themselves"
    ),
    visible: float = threshold(
        0.08, "of the curve's range", "convention", "smaller bumps are not worth a line"
    ),
    many: float = threshold(3, "spikes", "convention", "from three on they recur"),
    clear: float = threshold(0.25, "of the range of a score", "convention", "scores wander more"),
    enough: float = threshold(20, "points", "convention", "of a curve that is not the objective"),
    large: float = threshold(3.0, "x the level before", "seed", "2-3x the running average is benign"),
    start: float = threshold(0.03, "of the points", "convention", "the first steps, where warm-up belongs"),
    past: float = threshold(0.25, "of the points", "convention", "most of the curve came after it"),
) -> Iterator[Evidence]:
    """A rise far above the noise that is gone after a few points, once or twice.

    ## What it sees
    Points that stand out from the running median by 8 robust sigmas, and by more than the curve's own tail explains,
    and that fall back to within a third of their height. Three or more are another rule's. Where the objective is
    calm, the held-out loss, the parts of the loss and rewards (which drop) are looked at as well. Low from four
    times the level of the objective on, else a note.

    ## Why it matters
    Alone it does not: most runs survive single spikes of two or three times the average. It marks where to look
    (batch, learning rate).

    ## When it is wrong
    Losses logged per sample or per tiny batch have tails that look like spikes; the bar rises with the tail.

    ## What to try
    Look at the batch of that step and at the gradient norm one step before; clip gradients if spikes grow.

    ## Sources
    Requirements (2-3x the running average is benign); peers.md 2.4; tail extrapolation after Hill (1975).
    """
    curve = features.needed_curve("objective")
    for other in (curve, *companion_curves(features, least=int(enough))):
        bar = visible if other is curve and curve.sign > 0 else clear
        found = [s for s in curve_spikes(other, multiple=multiple, visible=bar) if s.recovered]
        if is_rough(other) and (other is not curve or curve.sign < 0):
            continue
        if other is curve and len(found) >= many:
            return
        if 0 < len(found) < many:
            worst = max(found, key=lambda s: s.height)
            yield told(features, other, worst, large if other is curve else np.inf, (start, past))
            return


def told(
    features: Features, curve: Curve, worst: Spike, large: float, since: tuple[float, float]
) -> Evidence:
    """The evidence of one spike; that of a score is a drop. `since`: what is early, and what is long ago."""
    start, past = since
    early: tuple[str, ...] = ("early",) if worst.first <= max(3, start * curve.n) else ()
    early += ("long-ago",) if worst.last < past * curve.n else ()
    tall = worst.height >= large * abs(worst.before) and "early" not in early and curve.sign > 0
    peak, step = (worst.before + worst.height) * curve.sign, curve.step_at(worst.peak)
    before = worst.before * curve.sign
    return Evidence(
        onset=curve.step_at(worst.first),
        last=curve.step_at(worst.last),
        severity="low" if tall else "info",
        aspects=("single", *early, *with_norm(features, step)),
        values={
            "name": curve.name, "goes": "spikes" if curve.sign > 0 else "drops", "peak": peak, "before": before,
            "onset": step, "settle": worst.settle,
        },
        points=(EvidencePoint(curve.name, step, peak, before),),
    )  # fmt: skip


def with_norm(features: Features, step: float) -> tuple[str, ...]:
    """Whether the gradient norm stood out at the spike too."""
    norm = features.curve("grad_norm")
    if norm is None or not norm.n:
        return ()
    at = norm.values[abs(norm.steps - step) <= 2 * (norm.steps[-1] - norm.steps[0]) / norm.n]
    middle = sorted(norm.values)[norm.n // 2]
    return ("with-norm",) if len(at) and float(at.max()) > 3 * middle else ()
