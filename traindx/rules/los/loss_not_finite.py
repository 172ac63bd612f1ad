"""LOS001 loss-not-finite."""

from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    format_step,
    improvement,
    median,
    np,
    rule,
    score,
    threshold,
)

WORDS = (
    "became infinite or nan",
    "loss is nan",
    "loss is inf",
    "nan loss",
    "loss nan",
    "non-finite loss",
    "loss is not finite",
    "invalid loss, terminating",
    "returned nan values in its",
)

REPLACED = {"nan-filtered-to-zero": "0", "clamped-nan": "87.3365"}  # by the code of the event


@rule(
    code="LOS001",
    needs=("objective|train/*|val/*|event:crash",),
    min_points=1,
    severity="critical",
    message="{name} is NaN or infinite {how}",
)
def loss_not_finite(
    run: Run,
    features: Features,
    *,
    early: float = threshold(
        0.05, "of the points", "convention", "bad initialization shows in the first steps"
    ),
    grown: float = threshold(
        5.0, "x the median before", "convention", "norms of 10x their median precede divergences"
    ),
    often: float = threshold(0.02, "of the points", "convention", "isolated bad batches are rarer"),
) -> Iterator[Evidence]:
    """The loss is NaN or infinite, or the run ended with an error that says so.

    ## What it sees
    Values of a loss that are not finite: the training loss or its substitute, then validation losses and
    parts of the loss. Values by which a log replaces NaN (0.0, or Caffe's 87.3365) count if that is certain.
    Severity is critical if the training loss is not finite up to the end of the log, and high if this is true
    of another loss. It is low if a validation loss never was finite while a validation score rises, as in
    evaluations in half precision. If finite values follow, it is medium above 2 % of the points, and low
    below.

    ## Why it matters
    The first loss that is not finite and reaches the optimizer ruins every weight. Nothing after it is
    training.

    ## When it is wrong
    The first steps of mixed-precision training may overflow while the loss scale is adjusted. A single value
    whose step the scaler skipped does no harm.

    ## What to try
    Check whether the gradient norm and the loss had grown just before. If not, look at the batch of that
    step.

    ## Sources
    Micikevicius et al. (2018), Mixed precision training, arXiv:1710.03740. PyTorch, anomaly detection:
    https://docs.pytorch.org/docs/stable/autograd.html#anomaly-detection.
    """
    yield from crash_evidence(run)
    broken = [c for c in losses(features) if len(c.nonfinite_steps)]
    if broken:
        yield curve_evidence(run, features, broken[0], early, grown, often)


def losses(features: Features) -> Iterator[Curve]:
    """The objective, then every loss, because a part may become NaN before the total does. A reward or a
    score that is not finite only means that there was nothing to average, if a loss is finite."""
    sides = ("train/", "val/", "rank/")
    names = [n for n in features.run.series if "loss" in n.rsplit("/", 1)[-1] and n.startswith(sides)]
    objective = features.objective
    sound = any((c := features.curve(n)) is not None and c.n for n in names)
    if objective is not None and (objective.name in names or not (sound or begins_late(objective))):
        yield objective
    for name in sorted(names, key=lambda n: (n not in ("train/loss", "val/loss"), n)):
        curve = features.curve(name)
        if curve is not None and curve is not objective:
            yield curve


def begins_late(curve: Curve) -> bool:
    """Whether a reward or a score lacks only its first values: no episode had ended, so there was nothing to average."""
    known = np.flatnonzero(np.isfinite(curve.raw.values))
    return curve.sign < 0 and len(known) > 0 and bool(known[0] == len(curve.raw) - len(known))


def curve_evidence(
    run: Run, features: Features, curve: Curve, early: float, grown: float, often: float
) -> Evidence:
    """The evidence of one curve with values that are not finite."""
    raw = curve.raw.values
    bad = ~np.isfinite(raw)
    first = int(np.argmax(bad))
    tail = len(raw) - 1 - int(np.flatnonzero(~bad)[-1]) if (~bad).any() else len(raw)
    norm = features.curve("grad_norm")
    at_once = 0 < first <= 2 and norm is not None and not np.isfinite(norm.raw.values[: first + 1]).any()
    aspects = ["from-start" if at_once else onset_aspect(first, len(raw), tail, early)]
    aspects += aspects_before(run, features, curve, float(curve.raw.steps[first]), grown)
    persistent = tail > 0
    share = float(bad.mean())
    severity: Severity = "critical" if persistent else ("medium" if share > often else "low")
    if persistent and curve is not features.objective:
        severity = "high"  # a part, or the validation loss: the training loss itself is finite
        if not curve.n and curve.name.startswith("val/") and score_rises(features):
            severity = "low"  # the evaluation overflows, the model does not
    if not persistent:
        aspects.append("recovered")
    how = duration_words(run, float(curve.raw.steps[first]), persistent, int(bad.sum()), len(raw))
    how += (printed := printed_as(run, float(curve.raw.steps[first])))
    aspects += ["printed-as-zero"] if "prints 0 " in printed and not curve.n else []
    return Evidence(
        onset=float(curve.raw.steps[first]),
        last=float(curve.raw.steps[np.flatnonzero(bad)[-1]]),
        strength=1.0 if persistent else 0.5,
        severity=severity,
        aspects=tuple(aspects),
        values={"name": curve.name, "how": how},
        points=(EvidencePoint(curve.name, float(curve.raw.steps[first]), float(raw[first])),),
    )


def printed_as(run: Run, step: float) -> str:
    """What the log shows from `step` on in place of NaN, for a reader who looks for it; "" where it says NaN."""
    codes = {e.code for e in run.events if e.kind == "log-suspect" and e.step is not None and e.step <= step}
    shown = next((number for code, number in REPLACED.items() if code in codes), "")
    return f" (the log prints {shown} for it)" if shown else ""


def score_rises(
    features: Features,
    *,
    least: float = threshold(4, "points", "convention", "fewer show no trend"),
    surely: float = threshold(4.0, "x standard error", "theory", "of a score that improves"),
) -> bool:
    """Whether a validation score clearly improves, and ends above where it began."""
    metric = score(features, "val/")
    if metric is None or metric.n < least:
        return False
    gained, error = improvement(metric)
    return gained > surely * error and metric.end < metric.start


def duration_words(run: Run, step: float, persistent: bool, count: int, of: int) -> str:
    """Since when, or how often, a curve is not finite."""
    if persistent and count == of:
        return "at its only point" if of == 1 else f"at all {of} points"
    if persistent:
        return f"from {run.axis} {format_step(step)} to the end"
    return f"at {count} of {of} points (first at {run.axis} {format_step(step)})"


def crash_evidence(run: Run) -> Iterator[Evidence]:
    """The run ended with an error that names a non-finite loss."""
    for event in run.events:
        if event.kind == "crash" and any(w in event.message.lower() for w in WORDS):
            yield Evidence(
                onset=event.step,
                aspects=("late",) if event.step and event.step > 0 else (),
                points=(EvidencePoint("train/loss", event.step, float("nan")),),
                message="the run stopped with an error about a NaN or infinite loss",
            )
            return


def onset_aspect(first: int, n: int, tail: int, early: float) -> str:
    """The aspect that says when it began."""
    if first == 0 and tail >= n:
        return "from-start"
    return "early" if first <= max(2, early * n) else "late"


def aspects_before(run: Run, features: Features, curve: Curve, onset: float, grown: float) -> Iterator[str]:
    """Aspects that say whether the gradient norm and the loss grew before the first bad value."""
    norm = features.curve("grad_norm")
    if norm is not None:
        earlier = norm.values[norm.steps < onset]
        if len(earlier) >= 2:
            recent, usual = float(earlier[-3:].max()), float(median(earlier[:-1]))
            if recent > grown * usual:
                yield "norm-grew-before"
            elif len(earlier) > 2:
                yield "norm-normal-before"
        elif len(earlier) and bool((norm.nonfinite_steps < onset).any()):
            yield "norm-grew-before"  # without a finite norm before, the first backward pass was broken
    mine = curve.as_loss[curve.steps < onset]
    if len(mine) >= 4 and mine[-1] - median(mine[:-1]) > grown * curve.noise:
        yield "loss-grew-before"
