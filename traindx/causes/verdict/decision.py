"""How the run is, and whether to let it go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from traindx.causes.verdict.health import (
    STUCK,
    Case,
    broken,
    counts,
    ended_of,
    ends_not_finite,
    health_of,
    poor_and_settled,
)
from traindx.causes.verdict.patterns import fired, pattern
from traindx.causes.verdict.undecided import undecided
from traindx.causes.wording import lowered
from traindx.features.shared import Features
from traindx.vocabulary.diagnosis import Decision, Finding, Health, Hypothesis
from traindx.vocabulary.rule import Outcome, threshold
from traindx.vocabulary.run import Run

LATE = ("delayed-generalization", "epoch-wise-double-descent", "s-curve")  # what looked bad has come right


def decide(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
) -> tuple[Health, Decision]:
    """Health of the run, and continue / stop / inspect with the reason and a confidence in 0..1."""
    case = Case(
        tuple(findings), tuple(hypotheses), run, features, pattern(outcomes, run, features), fired(outcomes)
    )
    health = health_of(case)
    return health, next(d for reason in REASONS if (d := reason(case, health)) is not None)


def stop_broken(case: Case, health: Health) -> Decision | None:
    why = broken(case)
    curve = case.features.objective
    ended = ended_of(case) is not None and not ends_not_finite(case)
    sound = curve is None or curve.n > 0  # else there is nothing to go back to
    then = "mend that first" if ended or not sound else "go back to the last good checkpoint"
    return Decision("stop", f"{why}; {then}", 0.95) if why else None


def stop_without_rate(case: Case, health: Health) -> Decision | None:
    """A learning rate of zero to the end: waiting cannot change a weight."""
    where = case.aspects.get("learning-rate-is-zero", frozenset())
    if "always" in where:
        return Decision("stop", "the learning rate is 0, so no step can change the model", 0.95)
    if "at-end" in where and not case.run.complete:
        return Decision(
            "stop", "the learning rate has come to 0, so no further step can change the model", 0.8
        )
    return None


def stop_unmoved(case: Case, health: Health) -> Decision | None:
    """A loss that is constant to the last digit."""
    curve = case.features.objective
    if (
        "never-moved" not in case.aspects.get("loss-flat-from-start", frozenset())
        or curve is None
        or curve.sign < 0
    ):
        return None
    return Decision(
        "stop", "the loss has not changed by a single digit: the model does not learn at all", 0.85
    )


def stop_overfitted(
    case: Case,
    health: Health,
    *,
    past: float = threshold(1.0, "x time to best", basis="convention", source="as long after as before"),
    above: float = threshold(
        0.1, "of the best loss", basis="convention", source="clear of evaluation noise"
    ),
) -> Decision | None:
    """Validation had its best long ago and is clearly worse now. A late drop (grokking) is excepted."""
    curve, gap = case.features.curve("val/loss"), case.aspects.get("validation-gap-grows")
    mild = all(f.severity == "low" for f in case.findings if f.slug == "validation-gap-grows")
    if gap is None or mild or "metric-improves" in gap or case.has("validation-drops-late"):
        return None
    if curve is None or curve.n < 4:
        return None
    best = int(np.argmin(curve.values))
    low, end, first, last = curve.values[best], curve.end, curve.steps[0], curve.steps[-1]
    late = last - curve.steps[best] >= past * (curve.steps[best] - first)
    if not late or end - low < above * abs(low):
        return None
    where = f"{case.run.axis} {curve.steps[best]:g}"
    return Decision(
        "stop",
        f"validation was best at {where} ({low:.4g}) and is {end:.4g} now; use that checkpoint",
        0.8 if "strong" in gap else 0.6,
    )


def stop_stuck(
    case: Case,
    health: Health,
    *,
    sure: float = threshold(
        0.9, "P(cause)", basis="convention", source="words of probability: almost certain"
    ),
) -> Decision | None:
    """Nothing learned, for a reason that a recording leaves no doubt of: no waiting mends it."""
    stuck = any(f.slug in STUCK and f.severity in ("critical", "high") for f in case.findings)
    leading = case.leading
    if not stuck or not case.run.panels or leading is None or leading.probability < sure:
        return None
    if leading.cause == "undertrained":
        return None
    reason = f"nothing was learned, and waiting does not mend it: {lowered(leading.title)}"
    return Decision("stop", reason, leading.probability)


def wait_if_flat(case: Case, health: Health) -> Decision | None:
    """A flat start may be the first part of an S-curve: twice its length is the time to give it."""
    flat = [f for f in case.findings if f.slug in STUCK]
    if not any(f.severity in ("critical", "high", "medium") for f in flat) or case.run.last_step is None:
        return None
    span = case.run.last_step - (case.run.first_step or 0.0)
    planned = case.run.setup.number("planned_epochs" if case.run.axis == "epoch" else "planned_steps")
    until = min(case.run.last_step + 2 * span, max(planned or float("inf"), case.run.last_step))
    unit = case.run.axis
    return Decision(
        "inspect",
        f"nothing learned in {span:g} {unit}s; late starts exist: wait until {unit} {until:g}",
        0.6,
    )


def inspect_sick(case: Case, health: Health) -> Decision | None:
    """Something is wrong, and the run may still be worth saving."""
    leading = case.leading
    if health not in ("sick", "failed") or leading is None:
        return None
    seen = telling(case)
    grave = seen.message if seen else "no single rule saw it, and all signs together speak for a fault"
    return Decision("inspect", grave.rstrip("."), leading.probability)


def telling(case: Case) -> Finding | None:
    """The finding to begin with: of the gravest that can be harm, the one that carries the leading cause, or else the
    first."""
    seen = [f for f in case.findings if f.severity != "info" and counts(f, case)]
    carry = {term.finding for term in case.leading.for_} if case.leading else set()
    gravest = [f for f in seen if f.severity == seen[0].severity]
    return next((f for f in gravest if f.slug in carry), next(iter(seen), None))


def go_on_short(case: Case, health: Health) -> Decision | None:
    """Little can be told: wait, if what is there gets better; look, if there is something to see or nothing at all."""
    if case.shape != "too-short-to-tell" or health == "healthy":
        return None
    seen = telling(case)
    if seen is not None:
        return Decision("inspect", f"too short for a verdict, and yet: {seen.message}", 0.5)
    curve = case.features.objective
    if (curve is None or curve.n == 0) and any(e.kind == "skipped-step" for e in case.run.events):
        return Decision(
            "continue", "a few skipped steps are how a loss scaler finds its range; no loss is told", 0.5
        )
    if curve is None or curve.n == 0:
        return Decision(
            "inspect", "the log holds no loss and no score: whether it learns cannot be told", 0.5
        )
    if (
        curve.n > 1
        and curve.oriented[-1] >= curve.oriented[0]
        and curve.oriented[-1] >= curve.oriented.max()
    ):
        return Decision(
            "inspect", f"too short to tell; {curve.name} is no better than at its first point", 0.5
        )
    points = f"{curve.n} point{'s' * (curve.n > 1)}"
    return Decision("continue", f"too short to tell either way: {points} of {curve.name}", 0.5)


def inspect_doubt(case: Case, health: Health) -> Decision | None:
    """No finding of weight, and yet a fault explains the whole better than health does."""
    leading = case.leading
    if health != "watch" or leading is None or leading.probability <= case.healthy:
        return None
    if undecided(case.hypotheses) and not any(
        f.severity in ("critical", "high", "medium") for f in case.findings
    ):
        return None
    return Decision("inspect", f"possibly: {lowered(leading.title)}", leading.probability)


def inspect_poor(case: Case, health: Health) -> Decision | None:
    """A score that helps nobody and does not get better."""
    poor = poor_and_settled(case.features) if health == "watch" else ""
    return Decision("inspect", f"{poor}: more of the same will not help", 0.5) if poor else None


def go_on_watching(case: Case, health: Health) -> Decision | None:
    if health != "watch" or not case.findings:
        return None
    grave = telling(case)
    if grave is not None and grave.severity in ("critical", "high", "medium") and case.shape not in LATE:
        return Decision("inspect", f"look at this before going on: {grave.message}", 0.5)
    seen = grave or case.findings[0]
    return Decision("continue", f"keep an eye on this: {seen.message}", max(case.healthy, 0.5))


def finish(case: Case, health: Health) -> Decision | None:
    """A finished run that has levelled off."""
    if case.shape != "converged" or not case.run.complete:
        return None
    return Decision("stop", "finished and converged: more of the same brings little", case.healthy)


def go_on(case: Case, health: Health) -> Decision:
    reasons = {
        "converged": "levelled off; stop when validation no longer improves",
        "still-learning": "healthy and still improving",
        "s-curve": "healthy: it started late and is learning now",
        "delayed-generalization": "healthy: validation comes down late",
        "recovered-spike": "healthy: the loss came back after a spike",
        "adversarial-balance": "neither player has won; how good the samples are, their losses do not tell",
        "warmup-phase": "healthy so far; the learning rate is still warming up",
    }
    reason = reasons.get(case.shape or "", "nothing speaks against going on")
    if case.features.loss_is_no_score and case.shape != "adversarial-balance":
        who = (
            "the agent acts: log its rewards" if case.features.is_reinforcement else "the nets work together"
        )
        reason = f"nothing speaks against going on, and no loss tells how well {who}"
    return Decision("continue", reason, case.healthy)


# The first that applies is the decision; `go_on` always does.
REASONS: tuple[Callable[[Case, Health], Decision | None], ...] = (
    stop_broken, stop_without_rate, stop_unmoved, stop_overfitted, stop_stuck, wait_if_flat, inspect_sick, go_on_short,
    inspect_doubt, inspect_poor, go_on_watching, finish, go_on,
)  # fmt: skip
