"""Whether to let a run go on: continue, stop or inspect, with the reason."""

from collections.abc import Callable, Sequence

import numpy as np

from traindx.causes.verdict.ending import remedy
from traindx.causes.verdict.harm import loss_in_raw_units
from traindx.causes.verdict.health import (
    STUCK,
    Case,
    clearly_improving,
    counts,
    ending_error,
    ends_not_finite,
    health_of,
    why_broken,
)
from traindx.causes.verdict.patterns import fired_aspects, pattern
from traindx.causes.verdict.questions import ENOUGH, doubt, is_unanswered, words_only
from traindx.causes.verdict.range_test import choose_rate
from traindx.features.curve import Curve
from traindx.features.curves.chance_level import GUESSED, KNOWN, chance_loss, classes_never_beaten
from traindx.features.curves.score_scales import late_median
from traindx.features.curves.settled_scores import poor_settled_score, score_fallen_back
from traindx.features.shared import Features
from traindx.vocabulary import (
    STANDARD_INPUT,
    Decision,
    Finding,
    Health,
    Hypothesis,
    Outcome,
    Run,
    certainty,
    format_step,
    lower_first,
    threshold,
)

LATE = (
    "delayed-generalization",
    "epoch-wise-double-descent",
    "s-curve",
)  # a curve that looked bad and has recovered

LOSS = "the loss"
INSIDE = ("GRD", "ACT", "WGT", "OBJ")  # rules on gradients, weights, rewards: they show why a loss is flat


def decide(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
) -> tuple[Health, Decision]:
    """Health of the run, and continue / stop / inspect with the reason and a confidence in 0..1."""
    case = Case(
        tuple(findings),
        tuple(hypotheses),
        run,
        features,
        pattern(outcomes, run, features),
        fired_aspects(outcomes),
    )
    health = health_of(case)
    return health, next(d for reason in REASONS if (d := reason(case, health)) is not None)


def stop_broken(case: Case, health: Health) -> Decision | None:
    why = why_broken(case)
    curve = case.features.objective
    error = ending_error(case)
    then = "Go back to the last good checkpoint"
    if error is not None and not ends_not_finite(case):
        then = remedy(error.message)
    elif curve is not None and curve.n == 0:  # without a finite value there is nothing to go back to
        then = "Fix that first"
    return Decision("stop", f"{why}. {then}", 0.95) if why else None


def stop_without_rate(case: Case, health: Health) -> Decision | None:
    """A learning rate of zero to the end: waiting cannot change a weight."""
    where = case.aspects.get("learning-rate-is-zero", frozenset())
    zero = "almost 0" if "tiny" in where else "0"
    if "always" in where:
        return Decision("stop", f"the learning rate is {zero}, so no step changes the model", 0.95)
    if "at-end" in where and not case.run.complete:
        changes = f"the learning rate has fallen to {zero}, so no further step changes the model"
        return Decision("stop", changes, 0.8)
    return None


def stop_unmoved(case: Case, health: Health) -> Decision | None:
    """A loss that is the same in every digit."""
    curve, aspects = case.features.objective, case.aspects.get("loss-flat-from-start", frozenset())
    if "never-moved" not in aspects or curve is None or curve.sign < 0:
        return None
    return Decision("stop", "the loss is the same in every digit, so the model does not learn at all", 0.85)


def stop_overfitted(
    case: Case,
    health: Health,
    *,
    past: float = threshold(
        1.0, "x time to best", basis="convention", source="as long after the best as before it"
    ),
    above: float = threshold(
        0.1, "of the best loss", basis="convention", source="clear of evaluation noise"
    ),
) -> Decision | None:
    """Validation was best long ago and is clearly worse now. A late drop (grokking) is an exception."""
    curve, gap = case.features.curve("val/loss"), case.aspects.get("validation-gap-grows")
    mild = all(f.severity == "info" for f in case.findings if f.slug == "validation-gap-grows")
    if gap is None or mild or "metric-improves" in gap or case.has("validation-drops-late"):
        return None
    if curve is None or curve.n < 4:
        return None
    best = int(np.argmin(curve.values))
    low, end, first, last = curve.values[best], curve.end, curve.steps[0], curve.steps[-1]
    late = last - curve.steps[best] >= past * (curve.steps[best] - first)
    if not late or min(end, curve.values[-1]) - low < above * abs(low):
        return None
    where = f"{case.run.axis} {format_step(curve.steps[best])}"
    then = "Use that checkpoint"
    if k := classes_never_beaten(float(low), case.run.setup.classes, exact=GUESSED if best else KNOWN):
        then = f"No checkpoint is better than guessing among {k} classes (ln {k} = {chance_loss(k):.4g})"
    why = f"val/loss was lowest at {where} ({low:.4g}) and is {curve.values[-1]:.4g} now. {then}"
    return Decision("stop", why, 0.8 if "strong" in gap else 0.6)


def stop_stuck(
    case: Case,
    health: Health,
    *,
    sure: float = threshold(0.9, "P(cause)", basis="convention", source="one in ten would be wrong"),
) -> Decision | None:
    """The run has learned nothing, and a recording shows why: more steps would not help."""
    stuck = any(f.slug in STUCK and f.severity in ("critical", "high") for f in case.findings)
    leading = case.leading
    if not stuck or not case.run.panels or leading is None or leading.probability < sure:
        return None
    if leading.cause == "undertrained":
        return None
    cause = f"{certainty(leading.probability)} {lower_first(leading.title)}"
    return Decision("stop", f"the run has learned nothing and will not: {cause}", leading.probability)


NOT_FALLEN = ("loss-flat-from-start", "loss-improves-too-little")  # the rules that say so


def wait_if_flat(case: Case, health: Health) -> Decision | None:
    """A flat start may be the first part of an S-curve. It gets twice its length to show that."""
    flat = [f for f in case.findings if f.slug in STUCK]
    if not any(f.severity in ("critical", "high", "medium") for f in flat) or case.run.last_step is None:
        return None
    if case.has("loss-diverges") or case.has("discriminator-wins"):
        return None  # it had learned, and lost that again
    span = case.run.last_step - (case.run.first_step or 0.0)
    if not span:
        return None
    unit, name = case.run.axis, objective_in_words(case)
    flat_so_far = f"{name} has not improved in {format_step(span)} {unit}s"
    fell = not any(f.slug.startswith(NOT_FALLEN) for f in case.findings)
    if fell or all("score" in f.aspects for f in flat):  # what fell before is not the question
        return Decision("inspect", flat[0].message, 0.6)
    inside = next((f for f in carriers(case) if f.family in INSIDE and f.severity != "info"), None)
    if inside is not None:
        return Decision("inspect", f"{flat_so_far}: {inside.message.rstrip('.')}", 0.6)
    planned = case.run.setup.number("planned_epochs" if case.run.axis == "epoch" else "planned_steps")
    until = min(case.run.last_step + 2 * span, planned or float("inf"))
    late = f". Some runs start late: check again at {unit} {format_step(until)}"
    return Decision(
        "inspect", flat_so_far + (late if until > case.run.last_step else ", all that were planned"), 0.6
    )


def inspect_sick(case: Case, health: Health) -> Decision | None:
    """Something is wrong, and it may still be possible to save the run."""
    leading = case.leading
    if health not in ("sick", "failed") or leading is None:
        return None
    seen = leading_finding(case) or next(iter(carriers(case)), None)
    together = f"no single sign is enough, but all together suggest a fault ({lower_first(leading.title)})"
    return Decision("inspect", seen.message.rstrip(".") if seen else together, leading.probability)


def inspect_described(
    case: Case,
    health: Health,
    *,
    likely: float = threshold(
        0.35, "P(cause)", basis="convention", source="from here on a report says 'possibly'"
    ),
) -> Decision | None:
    """The author of a question describes a fault of the program, and it explains the log better than health does."""
    leading, described = case.leading, set(case.run.setup.word("described").split(","))
    if leading is None or not described & {term.finding for term in leading.for_}:
        return None
    why = f"{certainty(leading.probability)} {lower_first(leading.title)}, as the question describes it"
    return (
        Decision("inspect", why, leading.probability)
        if leading.probability > max(likely, case.healthy)
        else None
    )


def carriers(case: Case) -> list[Finding]:
    """The findings that support the leading cause, also notes: strongest support first."""
    support = {term.finding: term.log_odds for term in case.leading.for_} if case.leading else {}
    found = [f for f in case.findings if f.slug in support]
    return sorted(found, key=lambda finding: -support[finding.slug])


def leading_finding(
    case: Case,
    *,
    sure: float = threshold(0.8, "P(cause)", basis="convention", source="'probable' in a report"),
) -> Finding | None:
    """The finding to show first: one that supports the leading cause, if that is sure, otherwise the
    gravest one that can do harm, preferably one that supports the cause."""
    seen = [f for f in case.findings if f.severity != "info" and counts(f, case)]
    carry = [f for f in carriers(case) if f in seen]
    known = case.leading is not None and case.leading.probability >= sure
    gravest = carry if known else [f for f in carry if f.severity == seen[0].severity]
    return next(iter(gravest), next(iter(seen), None))


def go_on_short(case: Case, health: Health) -> Decision | None:
    """A short log: continue if the curve improves, inspect if it does not, or if there is a finding or
    no curve."""
    if case.shape != "too-short-to-tell" or health == "healthy":
        return None
    seen = leading_finding(case)
    if seen is not None:
        short = "" if words_only(case.run) else "the run is too short for a verdict. So far: "
        return Decision("inspect", f"{short}{seen.message}", 0.5)
    curve = case.features.objective
    if (curve is None or curve.n == 0) and any(e.kind == "skipped-step" for e in case.run.events):
        scaling = "the loss scaler skips a few steps to find its range. The log shows no loss yet"
        return Decision("continue", scaling, 0.5)
    if curve is None or curve.n == 0:
        missing = "the log has no loss and no score, so it does not show whether the model learns"
        if words_only(case.run):
            missing = next(
                (f.message for f in case.findings), "the words of a question do not show what is wrong"
            )
        if case.features.is_evaluation and any(n.startswith(("train/", "val/")) for n in case.run.series):
            missing = "no column counts steps: the rows may be samples or models, not the steps of one run"
        return Decision("inspect", missing, 0.5)
    if curve.n == 1 and case.run.source == STANDARD_INPUT:  # a pasted row asks what it means
        return Decision("inspect", f"one value of {curve.name} cannot show whether the model learns", 0.5)
    if curve.n > 1 and curve.as_loss[-1] >= curve.as_loss[0] and curve.as_loss[-1] >= curve.as_loss.max():
        worse = f"the run is too short for a verdict, but {curve.name} is no better than at its first point"
        return Decision("inspect", worse, 0.5)
    so_far = f"{curve.name} has {curve.n} point{'s' * (curve.n > 1)}"
    planned, last = case.run.setup.number("planned_steps"), case.run.last_step
    if curve.n >= ENOUGH and planned and last is not None:
        so_far = f"it has made {format_step(last)} of {format_step(planned)} planned steps"
    if (doubted := doubt_question(case, health)) is not None:
        return doubted
    return Decision("continue", f"the run is too short for a verdict: {so_far}", 0.5)


def doubt_question(case: Case, health: Health) -> Decision | None:
    """The rows of a question do not show what it says is wrong."""
    if health != "watch" or not is_unanswered(case.run, case.findings, improving=clearly_improving(case)):
        return None
    return doubt(case.features)


def two_likeliest_faults(
    hypotheses: Sequence[Hypothesis],
    *,
    least: float = threshold(
        0.3, "P(cause)", basis="convention", source="below it the rest is twice as likely"
    ),
) -> tuple[Hypothesis, ...]:
    """The two most probable faults, if no cause (including `healthy`) reaches a probability of `least`;
    otherwise none.

    A report then says that it cannot tell the cause, and names these two and what would separate them."""
    if not hypotheses or max(h.probability for h in hypotheses) >= least:
        return ()
    faults = sorted((h for h in hypotheses if h.cause != "healthy"), key=lambda h: -h.probability)
    return tuple(faults[:2])


def inspect_doubt(case: Case, health: Health) -> Decision | None:
    """No serious finding, but a fault explains all signals together better than health does."""
    leading = case.leading
    if health != "watch" or leading is None or leading.probability <= case.healthy:
        return None
    if two_likeliest_faults(case.hypotheses) and not any(
        f.severity in ("critical", "high", "medium") for f in case.findings
    ):
        return None
    seen = leading_finding(case)
    if seen is not None and seen in carriers(case):
        return Decision("inspect", f"check this before going on: {seen.message}", leading.probability)
    sure, title = certainty(leading.probability), lower_first(leading.title)
    unsure = f"the log does not show the cause. The first candidate: {title}"
    return Decision("inspect", f"{sure} {title}" if sure else unsure, leading.probability)


def was_better_before(
    curve: Curve,
    *,
    much: float = threshold(0.1, "of the larger value", basis="convention", source="a tenth more are right"),
    sure: float = threshold(4.0, "x the noise", basis="theory", source="the best of hundreds is no chance"),
) -> bool:
    """Whether a score in the second half of its points was better than it ends, by much of its best."""
    best = float(curve.as_loss[curve.n // 2 :].min())
    return curve.end - best > max(much * max(abs(best), abs(curve.end)), sure * curve.noise)


def inspect_poor(
    case: Case,
    health: Health,
    *,
    enough: float = threshold(10, "points", basis="convention", source="as many as a page asks for"),
) -> Decision | None:
    """A useless score that no longer improves, or one that was better; a loss of which nothing shows how good it is."""
    poor = poor_settled_score(case.features) if health == "watch" else None
    lost = score_fallen_back(case.features) if health == "watch" else None
    if lost is None and poor is not None and was_better_before(poor):
        lost = poor
    if lost is not None:
        best, end = (float(v) * lost.sign for v in (lost.as_loss.min(), lost.end))
        return Decision(
            "inspect", f"{lost.name} was {best:.3g} and ends near {end:.3g}: use that checkpoint", 0.5
        )
    raw = loss_in_raw_units(case.run, case.features) if health == "watch" else None
    if poor is None and raw is not None:
        level = f"{raw.name} ends at {late_median(raw):.4g}"
        unknown = f"{level}, and the log does not show what a good value is"
        mean = "Compare it with the loss of always predicting the mean (for a squared error, the targets' variance)"
        return Decision("inspect", f"{unknown}. {mean}", 0.5)
    if poor is None:
        return None
    stopped = f"{poor.name} has stopped improving at about {late_median(poor):.3g}"
    rest = ": longer training will not improve it" if poor.n >= enough else f", but {poor.n} points are few"
    return Decision("inspect", f"{stopped}, a poor score{rest}", 0.5)


def go_on_watching(case: Case, health: Health) -> Decision | None:
    if health != "watch" or not case.findings:
        return None
    grave = leading_finding(case)
    stalled = grave is not None and grave.slug == "validation-gap-grows"  # more steps do not help it
    serious = grave is not None and (stalled or grave.severity in ("critical", "high", "medium"))
    if grave is not None and serious and case.shape not in LATE:
        return Decision("inspect", f"check this before going on: {grave.message}", 0.5)
    seen = grave or case.findings[0]
    return Decision("continue", seen.message, max(case.healthy, 0.5))


def finish(case: Case, health: Health) -> Decision | None:
    """A finished run that has levelled off."""
    if case.shape != "converged" or not case.run.complete:
        return None
    done = "the run has finished and converged, so training longer brings little"
    return Decision("stop", done, case.healthy)


def go_on(case: Case, health: Health) -> Decision:
    name = objective_in_words(case)
    checked = any(signal.startswith("val/") for signal in case.run.series)
    until = (
        ". Stop when validation no longer improves" if checked else ", and no validation shows when to stop"
    )
    shapes = {
        "converged": f"{name} has levelled off{until}",
        "still-learning": f"{name} is still improving",
        "s-curve": f"{name} started to improve late and is improving now",
        "delayed-generalization": "the validation loss is falling late, after training had converged",
        "recovered-spike": f"{name} {'spiked' if name == LOSS else 'dropped'} and recovered",
        "adversarial-balance": "neither network has won. Their losses do not show how good the samples are",
        "warmup-phase": "no serious fault was found, and the learning rate is still warming up",
    }
    points = curve.n if (curve := case.features.objective) is not None else case.run.points
    reason = shapes.get(case.shape or "", f"{points:,} points of {name} show no serious fault")
    if case.features.loss_is_no_score and case.shape != "adversarial-balance":
        what = "agent acts. Log its rewards" if case.features.is_reinforcement else "networks work together"
        reason = f"the losses show no fault, but not how well the {what}"
    return Decision("continue", reason, case.healthy)


def objective_in_words(case: Case) -> str:
    """What the run improves. Without the signal's name, so that a report still adds that signal's course."""
    return LOSS if "loss" in (case.features.objective_name or "loss") else "the score"


# The first that applies is the decision; `go_on` always does.
REASONS: tuple[Callable[[Case, Health], Decision | None], ...] = (
    choose_rate, stop_broken, stop_without_rate, stop_unmoved, stop_overfitted, stop_stuck, inspect_described,
    wait_if_flat, inspect_sick, go_on_short, inspect_doubt, inspect_poor, doubt_question, go_on_watching, finish, go_on,
)  # fmt: skip
