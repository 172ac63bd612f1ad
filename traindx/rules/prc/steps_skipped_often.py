"""PRC004 steps-skipped-often."""

import re

from traindx.features.performance.level_shifts import per_row
from traindx.rules.api import (
    CannotJudge,
    Evidence,
    EvidencePoint,
    Features,
    Floats,
    Iterator,
    Run,
    Severity,
    median,
    np,
    rule,
    threshold,
)

COUNTING = ("step", "iteration", "iter", "update", "row")  # axes that count optimizer steps


def skipped_shares(run: Run, features: Features) -> tuple[Floats, Floats]:
    """Steps and the share of optimizer steps skipped since the row before, from a counter or from events."""
    curve = features.curve("skipped_steps")
    if curve is not None and curve.n > 1:
        counts, steps = per_row(curve.values), curve.steps
    else:
        steps = max((s.steps for s in run.series.values()), key=len, default=np.empty(0))
        places = [e.step for e in run.events if e.kind == "skipped-step" and e.step is not None]
        at = np.searchsorted(steps, np.asarray(places, dtype=float))
        counts = np.bincount(at, minlength=len(steps) + 1)[: len(steps)].astype(float)
    if len(steps) < 2:
        return np.empty(0), np.empty(0)
    # A row cannot skip more steps than it stands for: a larger count shows what a row really is.
    interval = max(float(median(np.diff(steps))), float(counts.max()), 1.0)
    return steps, counts / interval


@rule(
    code="PRC004",
    needs=("skipped_steps|event:skipped-step",),
    min_points=0,
    severity="medium",
    message="{share:.0%} of the optimizer steps from step {step:g} to {last:g} were skipped",
    follows=("loss-scale-collapses", "gradient-not-finite", "loss-not-finite"),
)
def steps_skipped_often(
    run: Run,
    features: Features,
    *,
    often: float = threshold(0.05, "of the steps", "convention", "a scaler skips 1 in 1,000 to 2,000"),
    heavy: float = threshold(0.25, "of the steps", "convention", "a quarter of the work thrown away"),
    search: float = threshold(20, "steps", "theory", "halvings from 2**32 to the range of fp16 gradients"),
    window: float = threshold(0.2, "of the run", "convention", "long enough to be no accident"),
    least: float = threshold(3, "skips", "convention", "fewer may be chance"),
    few: float = threshold(10, "points", "convention", "of fewer, shares say nothing: skips are counted"),
    in_a_row: float = threshold(4, "skips", "convention", "16-fold; one or two are everyday"),
    lost: float = threshold(1e-6, "scale", "theory", "float16 ends at 65504: the gradients exceed 6e10"),
    usual: float = threshold(2.0**14, "scale", "convention", "fp16 runs settle at 2**15 to 2**20"),
) -> Iterator[Evidence]:
    """The optimizer skips many of its steps.

    ## What it sees
    In some fifth of the run, at least one step in twenty was skipped; the first twenty skips of the run are
    not counted. High when it is one in four. In a log of hardly anything but skips these are counted: four
    and more; medium from twenty on or where the scale they tell of has sunk below 2**14, high at 1 and
    below, where a single one is told, too, critical below a millionth: only NaN and infinity overflow there.

    ## Why it matters
    A skipped step is work thrown away, and a sign that gradients are often not finite.

    ## When it is wrong
    Dynamic loss scaling begins with ten to twenty skips and then tries a higher scale every thousand steps
    or so.

    ## What to try
    Look at the loss scale and the gradient norm at these steps.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training; Megatron-LM's count of skipped iterations.
    """
    if run.points < few:
        yield from burst(run, in_a_row, search, usual, lost)
        return
    steps, shares = skipped_shares(run, features)
    n = len(shares)
    if n == 0 or run.axis not in COUNTING:
        raise CannotJudge("the skipped steps cannot be laid beside the steps of the run")
    opening = int(np.argmax(shares == 0)) if np.any(shares == 0) else 0
    shares[: min(opening, int(search), n // 3)] = 0.0
    width = max(int(window * n), int(least))
    sums = np.concatenate([[0.0], np.cumsum(shares)])
    means = (sums[width:] - sums[:-width]) / width
    at = int(np.argmax(means)) if len(means) else 0
    share = float(means[at]) if len(means) else 0.0
    inside = np.flatnonzero(shares[at : at + width] > 0) + at
    if share < often or len(inside) < least:
        return
    first, last = float(steps[inside[0]]), float(steps[inside[-1]])
    yield Evidence(
        onset=first,
        last=last,
        strength=1.0 if share >= heavy else 0.5,
        severity="high" if share >= heavy else "medium",
        values={"share": share, "step": first, "last": last},
        points=(EvidencePoint("skipped_steps", first, share, often, "of the steps"),),
    )


COUNT, SCALE = (
    re.compile(r"^(\d+) skipped"),
    re.compile(r"\bscale\b.*?\bto:?\s*([-+\d.e]+?)\.?$", re.IGNORECASE),
)


def burst(run: Run, in_a_row: float, search: float, usual: float, lost: float) -> Iterator[Evidence]:
    """Skips that a short log tells of one after the other, and the loss scale that their last line names."""
    events = [e for e in run.events if e.kind == "skipped-step"]
    count = sum(int(m[1]) if (m := COUNT.match(e.message)) else 1 for e in events)
    if not events:
        return
    told = SCALE.search(events[-1].message)
    scale = float(told[1]) if told and told[1].strip("+-.e") else float("inf")
    if count < in_a_row and scale >= 1:
        return
    severity: Severity = "high" if scale <= 1 else "medium" if count > search or scale < usual else "low"
    sunk = f", down to a loss scale of {scale:.4g}" if scale < float("inf") else ""
    if scale < lost:
        severity, sunk = "critical", f"{sunk}: no range is left to look for, the gradients are not finite"
    yield Evidence(
        onset=run.first_step,
        last=run.last_step,
        strength=1.0 if severity in ("critical", "high") else 0.5,
        severity=severity,
        aspects=(*(["scale-sinks"] if scale < usual else []), *(["scale-lost"] if scale < lost else [])),
        message=f"{count} optimizer step{'s were' if count > 1 else ' was'} skipped one after the other{sunk}",
        points=(EvidencePoint("event:skipped-step", run.last_step, float(count), in_a_row, "skips"),),
    )
