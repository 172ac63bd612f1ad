"""LOS001: the loss is NaN or infinite."""

from traindx.rules.api import (
    Curve,
    Evidence,
    EvidencePoint,
    Features,
    Iterator,
    Run,
    Severity,
    median,
    np,
    rule,
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
)


@rule(
    code="LOS001",
    needs=("objective|train/*|val/*|event:crash",),
    min_points=1,
    severity="critical",
    message="{name} is not finite {how}",
)
def loss_not_finite(
    run: Run,
    features: Features,
    *,
    early: float = threshold(
        0.05, "of the points", "convention", "faults of initialization show in the first steps"
    ),
    grown: float = threshold(
        5.0, "x the median before", "seed", "a gradient norm of 10x its median precedes most divergences"
    ),
    often: float = threshold(0.02, "of the points", "convention", "isolated bad batches are rarer"),
) -> Iterator[Evidence]:
    """The loss holds NaN or infinite values, or the run ended with an error that says so.

    ## What it sees
    Values of a loss (the training loss or whatever stands for it, then held-out loss and parts) that are not finite:
    from some step to the end, or
    here and there. What the log itself replaced (a NaN written as 0.0, Caffe's 87.3365) counts too, where that is
    certain.

    ## Why it matters
    From the first non-finite loss that reaches the optimizer, every weight is lost. Nothing after it is training.

    ## When it is wrong
    The first steps of mixed-precision training may overflow while the loss scale is found; a single value that the
    scaler skipped does no harm, and is reported as low.

    ## What to try
    Look at the gradient norm and the loss just before: grown, or normal? Then the batch of that step.

    ## Sources
    Requirements: decision tree for NaN; fault catalogue rows 5, 32, 55-57, 60, 69, 100.
    """
    yield from said_by_crash(run)
    broken = [c for c in losses(features) if len(c.nonfinite_steps)]
    if broken:
        yield judged(run, features, broken[0], early, grown, often)


def losses(features: Features) -> Iterator[Curve]:
    """The objective, then every loss: of a total and its parts one may break first. A reward or a score that is not
    finite says only that there was nothing to average, where a loss beside it is sound."""
    names = [
        n for n in features.run.series if "loss" in n.rsplit("/", 1)[-1] and n.startswith(("train/", "val/"))
    ]
    objective = features.objective
    sound = any((c := features.curve(n)) is not None and c.n for n in names)
    if objective is not None and (objective.name in names or not sound):
        yield objective
    for name in sorted(names, key=lambda n: (n not in ("train/loss", "val/loss"), n)):
        curve = features.curve(name)
        if curve is not None and curve is not objective:
            yield curve


def judged(run: Run, features: Features, curve: Curve, early: float, grown: float, often: float) -> Evidence:
    """The evidence of one curve that holds values which are not finite."""
    raw = curve.raw.values
    bad = ~np.isfinite(raw)
    first = int(np.argmax(bad))
    tail = len(raw) - 1 - int(np.flatnonzero(~bad)[-1]) if (~bad).any() else len(raw)
    aspects = [when(first, len(raw), tail, early)]
    aspects += before(run, features, curve, float(curve.raw.steps[first]), grown)
    persistent = tail > 0
    share = float(bad.mean())
    severity: Severity = "critical" if persistent else ("medium" if share > often else "low")
    if persistent and curve is not features.objective:
        severity = "high"  # a part, or the held-out loss: the training loss itself still is a number
    if not persistent:
        aspects.append("recovered")
    return Evidence(
        onset=float(curve.raw.steps[first]),
        last=float(curve.raw.steps[np.flatnonzero(bad)[-1]]),
        strength=1.0 if persistent else 0.5,
        severity=severity,
        aspects=tuple(aspects),
        values={
            "name": curve.name,
            "how": lasting(run, float(curve.raw.steps[first]), persistent, int(bad.sum()), len(raw)),
        },
        points=(EvidencePoint(curve.name, float(curve.raw.steps[first]), float(raw[first])),),
    )


def lasting(run: Run, step: float, persistent: bool, count: int, of: int) -> str:
    """From where on, or how often, a curve is not finite."""
    if persistent and count == of:
        return f"in {'its only point' if of == 1 else f'any of its {of} points'}"
    if persistent:
        return f"from {run.axis} {step:g} to the end"
    return f"at {count} of {of} points (first at {run.axis} {step:g})"


def said_by_crash(run: Run) -> Iterator[Evidence]:
    """The run ended with an error that names a non-finite loss."""
    for event in run.events:
        if event.kind == "crash" and any(w in event.message.lower() for w in WORDS):
            yield Evidence(
                onset=event.step,
                aspects=("late",) if event.step and event.step > 0 else (),
                points=(EvidencePoint("train/loss", event.step, float("nan")),),
                message="the run stopped with an error about a loss that is not finite",
            )
            return


def when(first: int, n: int, tail: int, early: float) -> str:
    """The aspect that says when it began."""
    if first == 0 and tail >= n:
        return "from-start"
    return "early" if first <= max(2, early * n) else "late"


def before(run: Run, features: Features, curve: Curve, onset: float, grown: float) -> Iterator[str]:
    """Aspects that say what the gradient norm and the loss did before the first bad value."""
    norm = features.curve("grad_norm")
    if norm is not None:
        earlier = norm.values[norm.steps < onset]
        if len(earlier) >= 4:
            recent, usual = float(earlier[-3:].max()), float(median(earlier))
            yield "norm-grew-before" if recent > grown * usual else "norm-normal-before"
        elif bool((norm.nonfinite_steps <= onset).any()):
            yield "norm-grew-before"
    mine = curve.oriented[curve.steps < onset]
    if len(mine) >= 4 and mine[-1] - median(mine[:-1]) > grown * curve.noise:
        yield "loss-grew-before"
