"""PRC004 steps-skipped-often."""

import re

from traindx.rules.api import Evidence, Features, Floats, Iterator, Run, api, np, rule, threshold

COUNTING = ("step", "iteration", "iter", "update", "row")  # axes that count optimizer steps


def skipped_shares(run: Run, features: Features) -> tuple[Floats, Floats]:
    """Steps and the share of optimizer steps skipped since the row before, from a counter or from events."""
    curve = features.curve("skipped_steps")
    if curve is not None and curve.n > 1:
        counts, steps = api.events_per_row(curve.values), curve.steps
    else:
        steps = max((s.steps for s in run.series.values()), key=len, default=np.empty(0))
        places = [e.step for e in run.events if e.kind == "skipped-step" and e.step is not None]
        at = np.searchsorted(steps, np.asarray(places, dtype=float))
        counts = np.bincount(at, minlength=len(steps) + 1)[: len(steps)].astype(float)
    if len(steps) < 2:
        return np.empty(0), np.empty(0)
    # A row cannot skip more steps than it covers. A larger count shows how many it covers.
    interval = max(float(api.median(np.diff(steps))), float(counts.max()), 1.0)
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
    heavy: float = threshold(0.25, "of the steps", "convention", "a quarter of the work is wasted"),
    search: float = threshold(20, "steps", "theory", "halvings from 2**32 to the range of fp16 gradients"),
    window: float = threshold(0.2, "of the run", "convention", "long enough not to be chance"),
    least: float = threshold(3, "skips", "convention", "fewer may be chance"),
    few: float = threshold(10, "points", "convention", "in fewer, skips are counted instead of shares"),
    in_a_row: float = threshold(4, "skips", "convention", "16-fold; one or two are normal"),
    lost: float = threshold(1e-6, "scale", "theory", "float16 ends at 65504: the gradients exceed 6e10"),
    usual: float = threshold(2.0**14, "scale", "convention", "fp16 runs settle at 2**15 to 2**20"),
) -> Iterator[Evidence]:
    """The optimizer skips many of its steps.

    ## What it sees
    In some fifth of the run at least 5 % of the optimizer steps were skipped. The first twenty skips of the
    run are not counted. Severity is medium, and high from 25 % on.

    In a log of fewer than 10 points, four skips are reported (low). It is medium from twenty on, or if the
    loss scale they name is below 2**14. It is high at a scale of 1 or below, for which a single skip is
    enough, and critical below a millionth: at that scale only NaN and infinity overflow.

    ## Why it matters
    A skipped step is wasted work, and a sign that gradients are often not finite.

    ## When it is wrong
    Dynamic loss scaling begins with ten to twenty skips, and tries a higher scale about every 2,000 steps.

    ## What to try
    Look at the loss scale and the gradient norm at these steps.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. PyTorch, `GradScaler.step`:
    https://docs.pytorch.org/docs/stable/amp.html.
    """
    if run.points < few:
        yield from skips_in_a_row(run, in_a_row, search, usual, lost)
        return
    steps, shares = skipped_shares(run, features)
    n = len(shares)
    if n == 0 or run.axis not in COUNTING:
        raise api.CannotJudge("the rows of the log are not optimizer steps")
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
        points=(api.EvidencePoint("skipped_steps", first, share, often, "of the steps"),),
    )


COUNT = re.compile(r"^(\d+) skipped")
SCALE = re.compile(r"\bscale\b.*?\bto:?\s*([-+\d.e]+?)\.?$", re.IGNORECASE)


def skips_in_a_row(
    run: Run, in_a_row: float, search: float, usual: float, lost: float
) -> Iterator[Evidence]:
    """Skips that a short log reports one after the other, and the loss scale that its last line names."""
    events = [e for e in run.events if e.kind == "skipped-step"]
    count = sum(int(m[1]) if (m := COUNT.match(e.message)) else 1 for e in events)
    if not events:
        return
    named = SCALE.search(events[-1].message)
    scale = float(named[1]) if named and named[1].strip("+-.e") else float("inf")
    if count < in_a_row and scale >= 1:
        return
    severity: api.Severity = "high" if scale <= 1 else "medium" if count > search or scale < usual else "low"
    sunk = f", down to a loss scale of {scale:.4g}" if scale < float("inf") else ""
    if scale < lost:
        severity, sunk = "critical", f"{sunk}, where only gradients that are not finite overflow"
    yield Evidence(
        onset=run.first_step,
        last=run.last_step,
        strength=1.0 if severity in ("critical", "high") else 0.5,
        severity=severity,
        aspects=(*(["scale-sinks"] if scale < usual else []), *(["scale-lost"] if scale < lost else [])),
        message=f"{count} optimizer step{'s were' if count > 1 else ' was'} skipped in a row{sunk}",
        points=(api.EvidencePoint("event:skipped-step", run.last_step, float(count), in_a_row, "skips"),),
    )
