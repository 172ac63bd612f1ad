"""LRS001 learning-rate-jumps."""

from traindx.features.curves.schedule import (
    Jump,
    coarsely_printed,
    describe_loss_since,
    jumps,
    restarts,
    traces,
    warmup_end,
)
from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    format_step,
    median,
    np,
    rule,
    threshold,
)


@rule(
    code="LRS001",
    needs=("lr|lr/*",),
    min_points=5,
    severity="medium",
    message="{signal} jumps from {before:.4g} to {after:.4g} at step {at:g}{times}",
)
def learning_rate_jumps(
    run: Run,
    features: Features,
    *,
    up: float = threshold(1.8, "x", "convention", "rates do not double outside of warm-up and restarts"),
    down: float = threshold(15.0, "x", "measured", "step decay divides by 2 to 10"),
    early: float = threshold(0.2, "of the run", "convention", "stepwise warm-up ends by then"),
    left: float = threshold(3, "points", "measured", "the last point of a schedule is often 0"),
    mild: float = threshold(3.0, "x", "convention", "a good rate is known to about this factor"),
    spent: float = threshold(0.01, "of the peak", "theory", "steps are 1 % as long: see LRS002"),
) -> Iterator[Evidence]:
    """The learning rate jumps, and not because of a warm-up, step decay or warm restart.

    ## What it sees
    A change from one logged point to the next by a factor that the neighboring changes do not share: up by
    1.8 after the warm-up, or down by 15 or more (step decay divides by 2 to 10). Regular restarts, and
    phases that the log itself announces, are not reported. A rate that decays and gradually climbs back once
    is a note, and of medium severity if the objective gets worse on the way. Severity is medium if the loss
    rises right after the jump, if it is not finite soon after it, or if there are three jumps. It is also
    medium if the rate rises by a factor of 3 or more to where it never was, or falls to a hundredth. Otherwise
    it is low.

    ## Why it matters
    The network was adapted to the old rate. A jump up can undo training, a jump down stops it.

    ## When it is wrong
    A schedule with several phases, or a single restart, that the log does not announce.

    ## What to try
    Print the schedule for all steps before training. Check where the scheduler is stepped, and whether its
    state is restored on resume.

    ## Sources
    Loshchilov and Hutter (2017), SGDR: stochastic gradient descent with warm restarts, arXiv:1608.03983.
    Smith (2017), Cyclical learning rates for training neural networks, arXiv:1506.01186.
    """
    for curve in traces(features):
        unit = (
            float(curve.values[curve.values > 0].min(initial=np.inf))
            if coarsely_printed(curve.values)
            else 0.0
        )
        found = [j for j in jumps(curve.values, up=up, down=down) if abs(j.after - j.before) > 2 * unit]
        calm = warmup_end(curve.values)
        ups = [j for j in found if j.factor > 1 and (j.at > calm or j.at > early * curve.n)]
        ups = [] if ups and restarts(curve.values, ups) else ups
        late = [j for j in found if j.factor < 1 and j.before > spent * curve.values.max()]
        downs = [j for j in late if curve.n - j.at >= left and not returns(j, ups)]
        kept = [j for j in sorted(ups + downs, key=lambda j: j.at) if not is_announced(run, curve, j)]
        if kept:
            yield evidence(run, features, curve, kept, (mild, spent))
            return
        climb = climb_back(curve, features)
        if climb is not None:
            yield climb
            return


def climb_back(
    curve: Curve,
    features: Features,
    *,
    deep: float = threshold(0.25, "of the rate before", "convention", "a decay, not a dent"),
    far: float = threshold(0.5, "of the rate before", "convention", "the decay is undone"),
    points: float = threshold(5, "points", "convention", "a gradual rise"),
) -> Evidence | None:
    """The rate decays and gradually climbs back once, as a cosine does that is shorter than the run: a note, unless
    the objective gets worse on the way. Several cycles are deliberate."""
    rates = curve.values
    low = int(np.argmin(rates))
    top = low + int(np.argmax(rates[low:]))
    before = float(rates[: low + 1].max())
    turns = np.diff(np.sign(np.diff(rates))[np.diff(rates) != 0])
    if top - low < points or before <= 0 or rates[low] > deep * before or rates[top] < far * before:
        return None
    if np.count_nonzero(turns) > 2 or np.any(np.diff(rates[low : top + 1]) < 0) or low == 0:
        return None
    spoiled = describe_loss_since(features, curve.step_at(low), curve.step_at(top))
    return Evidence(
        onset=curve.step_at(low),
        last=curve.step_at(top),
        where=curve.name,
        strength=1.0 if spoiled else 1 / 4,
        severity="medium" if spoiled else "info",
        aspects=("climbs", "loss-reacts") if spoiled else ("climbs",),
        message=f"{curve.name} fell from {before:.4g} to {rates[low]:.4g} "
        f"at step {format_step(curve.step_at(low))} and climbed back "
        f"to {rates[top]:.4g}{spoiled}; perhaps the schedule is shorter than the run",
        points=(curve.point(low), curve.point(top)),
    )


def returns(down: Jump, ups: list[Jump]) -> bool:
    """Whether a downward jump only returns to the rate before an upward one."""
    return any(u.at < down.at and down.after >= u.before / 2 for u in ups)


def is_announced(run: Run, curve: Curve, jump: Jump) -> bool:
    """Whether the log itself announces a new phase there."""
    before, after = curve.step_at(jump.at - 1), curve.step_at(jump.at)
    return any(
        e.kind in ("phase", "restart") and e.step is not None and before <= e.step <= after
        for e in run.events
    )


def evidence(
    run: Run, features: Features, curve: Curve, found: list[Jump], bars: tuple[float, float]
) -> Evidence:
    mild, spent = bars
    worst = max(found, key=lambda j: (j.factor > 1, abs(np.log(j.factor))))
    at, before = curve.step_at(worst.at), curve.step_at(worst.at - 1)
    aspects = ["up" if worst.factor > 1 else "down"]
    if len(found) >= 3:
        aspects.append("repeatedly")
    if any(e.kind == "resume" and e.step is not None and before <= e.step <= at for e in run.events):
        aspects.append("at-resume")
    if objective_reacts(features, before, at):
        aspects.append("loss-reacts")
    if worst.factor > 1 and breaks_after(features, at):
        aspects.append("breaks")
    # A return to a rate that did no harm before is less serious than a rate that was never tried.
    known = worst.factor > 1 and worst.after <= float(curve.values[: worst.at].max())
    # A single cut that the loss does not notice is most often a step of the schedule.
    serious = {"loss-reacts", "repeatedly", "breaks"} & set(aspects) or worst.factor <= spent
    serious = serious or (worst.factor >= mild and not known)
    more = len(found) - 1
    return Evidence(
        onset=curve.step_at(found[0].at),
        last=curve.step_at(found[-1].at),
        where=curve.name,
        strength=float(np.clip(abs(np.log(worst.factor)) / np.log(2 * mild), 0.5, 1)),
        aspects=tuple(aspects),
        severity="medium" if serious else "low",
        values={
            "signal": curve.name,
            "before": worst.before,
            "after": worst.after,
            "at": at,
            "times": f", and {more} other time{'s' * (more > 1)}" if more else "",
        },
        points=tuple(EvidencePoint(curve.name, curve.step_at(j.at), j.after, j.before) for j in found[:4]),
    )


def breaks_after(
    features: Features,
    at: float,
    *,
    soon: float = threshold(0.1, "of the run", "convention", "a rate that is far too high shows within it"),
) -> bool:
    """Whether the objective is finite until the jump, and not finite soon after it."""
    curve = features.objective
    if curve is None or not len(curve.nonfinite_steps):
        return False
    last = max(float(curve.nonfinite_steps[-1]), float(curve.steps[-1]) if curve.n else 0.0)
    return bool(at <= curve.nonfinite_steps[0] <= at + soon * last)


def objective_reacts(features: Features, before: float, at: float) -> bool:
    """Whether the objective is clearly worse right after the jump than right before it."""
    curve = features.objective
    if curve is None or curve.n < 3:
        return False
    old = curve.as_loss[curve.steps <= before][-4:]
    new = curve.as_loss[curve.steps >= at][:4]
    return bool(len(old) and len(new) and median(new) - median(old) > 4 * curve.noise)
