"""LOS009: a spike after which the run never recovered."""

from traindx.features.curves.spike_outcomes import curve_spikes, fails_after
from traindx.features.curves.spikes import RETURN
from traindx.rules.api import Evidence, EvidencePoint, Features, Iterator, Run, rule, threshold


@rule(
    code="LOS009",
    needs=("train/loss",),
    min_points=8,
    severity="high",
    message="{name} jumps from {before:.4g} to {peak:.4g} at step {onset:g} and does not come back",
    follows=("loss-not-finite", "loss-diverges"),
)
def loss_spikes_then_fails(
    run: Run,
    features: Features,
    *,
    multiple: float = threshold(8.0, "x robust noise", "convention", "as for spikes that recover"),
    visible: float = threshold(
        0.25, "of the curve's range", "convention", "a quarter of what training gained"
    ),
    kept: float = threshold(
        0.5, "of the spike's height", "convention", "where the run ends, relative to the jump"
    ),
) -> Iterator[Evidence]:
    """A sudden rise that is not undone: the run stays up, or ends in values that are not finite.

    ## What it sees
    A spike by the measure of the other spike rules whose level does not fall back, and after which either the loss
    stops being finite or the run ends with more than half of the jump still there.

    ## Why it matters
    One step did the damage; what came before it was fine and can be used again.

    ## When it is wrong
    A change of data or loss weights on purpose; a log that ends within a few points of the spike.

    ## What to try
    Resume from before the spike, skip its batches, clip gradients, or lower the learning rate.

    ## Sources
    Requirements (spike then NaN: numerical instability).
    """
    curve = features.needed_curve("train/loss")
    for spike in curve_spikes(curve, multiple=multiple, visible=visible):
        ends_up = curve.end - spike.before > kept * spike.height and spike.last < curve.n - 3
        ends_up = ends_up and float(curve.trend[spike.last :].min()) - spike.before > RETURN * spike.height
        broken = fails_after(curve, spike)
        if spike.recovered or not (ends_up or broken):
            continue
        yield Evidence(
            onset=curve.step_at(spike.first),
            last=float(curve.steps[-1]),
            aspects=("then-not-finite",) if broken else ("stays-up",),
            values={
                "name": curve.name,
                "before": spike.before,
                "peak": spike.before + spike.height,
                "onset": curve.step_at(spike.first),
            },
            points=(
                EvidencePoint(
                    curve.name, curve.step_at(spike.peak), spike.before + spike.height, spike.before
                ),
            ),
        )
        return
