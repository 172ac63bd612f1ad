"""How the run is, and whether to let it go on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from traindx.causes.ended import ENDED_BADLY, ended_badly
from traindx.causes.proof import accused, learns_well
from traindx.causes.shapes import fired, pattern
from traindx.causes.undecided import undecided
from traindx.causes.words import lowered
from traindx.features.middle import median
from traindx.features.progress import young
from traindx.features.scores import ERRORS, HARD, best_skill, late, scale_of, scores, skill, words_of
from traindx.features.shared import Features
from traindx.features.trends import slope
from traindx.vocabulary.diagnosis import Decision, Finding, Health, Hypothesis
from traindx.vocabulary.rule import Outcome, threshold
from traindx.vocabulary.run import Event, Run

LATE = ("delayed-generalization", "epoch-wise-double-descent", "s-curve")  # what looked bad has come right
OVERLAPS = frozenset({"iou", "miou", "dice", "jaccard", "f1", "fscore"})
STUCK = ("loss-flat-from-start", "loss-at-chance")
NOT_YET = (*STUCK, "losses-stay-high", "loss-plateaus")  # what a few steps cannot help


class Case(Struct, frozen=True):
    """All that a decision looks at."""

    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    run: Run
    features: Features
    shape: str | None
    aspects: dict[str, frozenset[str]]

    def has(self, slug: str) -> bool:
        return slug in self.aspects

    @property
    def healthy(self) -> float:
        """Probability that nothing is wrong."""
        return next((h.probability for h in self.hypotheses if h.cause == "healthy"), 0.0)

    @property
    def leading(self) -> Hypothesis | None:
        """The most probable cause that is something wrong."""
        return next((h for h in self.hypotheses if h.cause != "healthy"), None)


def decide(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
) -> tuple[Health, Decision]:
    """Health of the run, and continue / stop / inspect with the reason and a confidence in 0..1."""
    case = Case(tuple(findings), tuple(hypotheses), run, features, pattern(outcomes, run, features), fired(outcomes))
    health = health_of(case)
    return health, next(d for reason in REASONS if (d := reason(case, health)) is not None)


def health_of(
    case: Case,
    *,
    doubted: float = threshold(0.5, "P(healthy)", basis="convention", source="more likely ill than not"),
    unlikely: float = threshold(0.3, "P(healthy)", basis="convention", source="ill by more than two to one"),
    hardly: float = threshold(0.2, "P(healthy)", basis="measured", source="gym: 1 % of healthy recordings have less"),
    likely: float = threshold(0.5, "P(cause)", basis="theory", source="one fault more likely than all else together"),
    sure: float = threshold(0.6, "P(healthy)", basis="measured", source="gym: 95 % of healthy recordings have more"),
) -> Health:
    """failed: broken beyond use; sick: a grave finding, or a lesser one that health hardly explains; watch: something
    to keep an eye on, or nothing that can be judged; else healthy. Where modules were recorded, probabilities are
    right often enough to count by themselves."""
    if broken(case):
        return "failed"
    early = young(case.run)  # too few steps to have learned
    gravest = {f.severity for f in case.findings if not (early and f.slug in NOT_YET)}
    leading = case.leading
    if gravest & {"critical", "high"}:
        return "sick" if case.healthy < doubted else "watch"
    if "medium" in gravest:
        return "sick" if case.healthy < unlikely else "watch"
    recorded = bool(case.run.panels)
    if recorded and case.healthy < hardly and leading is not None and leading.probability >= likely:
        sound = early or leading.cause == "undertrained" or learns_well(case.run, case.features)
        return "sick" if accused(leading) and not sound else "watch"
    doubtful = (leading is not None and leading.probability > case.healthy) or (recorded and case.healthy < sure)
    doubtful = doubtful or case.healthy < hardly
    unknown = case.shape == "too-short-to-tell" and not clearly_improving(case)
    unknown = unknown or case.has("loss-improves-too-little-noise-considered") or validation_worsens(case)
    unknown = unknown or bool(poor_and_settled(case.features)) or nothing_carries_over(case)
    return "watch" if doubtful or unknown else "healthy"


def nothing_carries_over(
    case: Case,
    *,
    good: float = threshold(0.7, "of the way to perfect", basis="convention", source="a held-out score of use"),
) -> bool:
    """Validation stands far from training, or still while training goes on, and no score says that it is good all the
    same: converged, and yet not simply healthy."""
    gap = case.aspects.get("validation-gap-grows", frozenset())
    return bool(gap & {"stalled", "wide"}) and best_skill(case.features, ("val/",)) < good


def poor_and_settled(
    features: Features,
    *,
    poor: float = threshold(0.4, "of the way to perfect", basis="convention", source="an accuracy that helps nobody"),
    none: float = threshold(0.05, "of the way to perfect", basis="convention", source="mAP and BLEU are low by nature"),
    least: float = threshold(5, "points", basis="convention", source="fewer do not show that it has settled"),
    moves: float = threshold(0.03, "of the scale", basis="convention", source="an improvement worth waiting for"),
    fair: float = threshold(0.15, "of the way to perfect", basis="convention", source="overlaps that find nothing"),
) -> str:
    """The held-out score (of training, where there is none) that has come to rest at a poor place, "" for none:
    silence of the other rules is no health then."""
    for split in ("val/", "train/"):
        found = scores(features, split, int(least))
        rests = []
        for curve in found:
            scale = scale_of(curve.name, curve.values, features.run.setup.classes)
            assert scale is not None
            level = late(curve)
            known = skill(level, scale)
            share = known if known is not None else level / scale.perfect
            words = words_of(curve.name)
            bar = poor if words & (HARD | ERRORS) else fair if words & OVERLAPS else none
            size = abs(scale.perfect - (scale.nothing or 0.0)) or 1.0
            before = float(median(curve.oriented[curve.n // 3 : curve.n // 3 + 3]))
            if share < bar and before - float(median(curve.oriented[-3:])) < moves * size:
                rests.append(f"{curve.name} has come to rest at {level:.3g}")
        if found:
            return rests[0] if 2 * len(rests) >= len(found) else ""
    return ""


def validation_worsens(
    case: Case,
    *,
    few: float = threshold(4, "points", basis="convention", source="the rule on growing gaps asks for as many"),
    worse: float = threshold(0.02, "of the first", basis="convention", source="beyond what an evaluation wavers by"),
) -> bool:
    """Too few evaluations for a verdict, and the last is worse than the first."""
    curve = case.features.curve("val/loss")
    if curve is None or not 1 < curve.n < few:
        return False
    return bool(curve.oriented[-1] - curve.oriented[0] > worse * abs(curve.oriented[0]))


def clearly_improving(
    case: Case,
    *,
    least: float = threshold(3, "points", basis="convention", source="two are no trend"),
    much: float = threshold(0.1, "of the first", basis="convention", source="few points: better each time, by this"),
    surely: float = threshold(4.0, "x standard error", basis="theory", source="a trend beyond doubt"),
) -> bool:
    """Whether even a short curve leaves no doubt that it improves."""
    curve = case.features.objective
    if curve is None or curve.n < least or not others_agree(case.features):
        return False
    y = curve.oriented
    if least < curve.n < 2 * least + 2 and float(np.diff(y).max()) < 0 and y[0] - y[-1] > much * abs(float(y[0])):
        return True
    fit = slope(y)
    return bool(fit.change < -surely * fit.error)


def others_agree(
    features: Features,
    *,
    worse: float = threshold(0.02, "of the first", basis="convention", source="beyond what an evaluation wavers by"),
) -> bool:
    """Whether no held-out loss and no score ends worse than it began, or never moves."""
    val = features.curve("val/loss")
    others = [*([val] if val is not None and val.n > 1 else []), *scores(features, "val/", 2)]
    return not any(
        c.oriented[-1] - c.oriented[0] > worse * abs(float(c.values[0])) or (c.n > 2 and np.ptp(c.values) == 0)
        for c in others
    )


def ended_of(case: Case) -> Event | None:
    """The error that the run did not survive."""
    survived = "survived" in case.aspects.get("out-of-memory", frozenset())
    return ended_badly(case.run, case.features, survived=survived)


def broken(case: Case) -> str | None:
    """Why the run is of no use any more, or None."""
    ended = ended_of(case)
    if ended is not None:
        return f"{ENDED_BADLY[ended.kind]} ({shortened(ended.message)})"
    grave = any(f.slug == "loss-not-finite" and f.severity == "critical" for f in case.findings)
    if grave and ends_not_finite(case):
        return "the loss is not finite and does not come back"
    if diverged_for_good(case):
        return "the loss has diverged, and what had been learned is lost"
    if "scale-lost" in case.aspects.get("steps-skipped-often", frozenset()):
        return "the loss scale has sunk to nothing: the gradients are not finite, and no step is taken any more"
    if "frozen" in case.aspects.get("loss-at-chance", frozenset()):
        return "the loss repeats the value of a guess digit for digit: nothing reaches the outputs any more"
    return None


def shortened(
    message: str,
    *,
    most: float = threshold(100, "characters", basis="convention", source="a line that one reads"),
) -> str:
    """The beginning of a message, whole words."""
    if len(message) <= most:
        return message.rstrip(".")
    return f"{message[: int(most)].rsplit(' ', 1)[0]} …"


def ends_not_finite(case: Case) -> bool:
    """The last logged objective is NaN or infinite."""
    curve = case.features.objective
    return curve is not None and len(curve.raw) > 0 and not np.isfinite(curve.raw.values[-1])


def diverged_for_good(case: Case) -> bool:
    """A divergence was seen, and the curve ends no better than it began."""
    curve = case.features.objective
    seen = case.has("loss-diverges") or case.has("loss-spikes-then-fails")
    return seen and curve is not None and curve.n >= 4 and curve.end >= curve.start


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
        return Decision("stop", "the learning rate has come to 0, so no further step can change the model", 0.8)
    return None


def stop_unmoved(case: Case, health: Health) -> Decision | None:
    """A loss that is constant to the last digit."""
    curve = case.features.objective
    if "never-moved" not in case.aspects.get("loss-flat-from-start", frozenset()) or curve is None or curve.sign < 0:
        return None
    return Decision("stop", "the loss has not changed by a single digit: the model does not learn at all", 0.85)


def stop_overfitted(
    case: Case,
    health: Health,
    *,
    past: float = threshold(1.0, "x time to best", basis="convention", source="as long after as before"),
    above: float = threshold(0.1, "of the best loss", basis="convention", source="clear of evaluation noise"),
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
    sure: float = threshold(0.9, "P(cause)", basis="convention", source="words of probability: almost certain"),
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
        "inspect", f"nothing learned in {span:g} {unit}s; late starts exist: wait until {unit} {until:g}", 0.6
    )


def inspect_sick(case: Case, health: Health) -> Decision | None:
    """Something is wrong, and the run may still be worth saving."""
    leading = case.leading
    if health not in ("sick", "failed") or leading is None:
        return None
    grave = next((f.message for f in case.findings if f.severity != "info"), None)
    if grave is None:
        grave = "no single rule saw it, and all signs together speak for a fault"
    return Decision("inspect", grave.rstrip("."), leading.probability)


def go_on_short(case: Case, health: Health) -> Decision | None:
    """Little can be told: wait, if what is there gets better; look, if there is something to see or nothing at all."""
    if case.shape != "too-short-to-tell" or health == "healthy":
        return None
    main = next((f.message for f in case.findings if f.severity != "info"), None)
    if main is not None:
        return Decision("inspect", f"too short for a verdict, and yet: {main}", 0.5)
    curve = case.features.objective
    if (curve is None or curve.n == 0) and any(e.kind == "skipped-step" for e in case.run.events):
        return Decision("continue", "a few skipped steps are how a loss scaler finds its range; no loss is told", 0.5)
    if curve is None or curve.n == 0:
        return Decision("inspect", "the log holds no loss and no score: whether it learns cannot be told", 0.5)
    if curve.n > 1 and curve.oriented[-1] >= curve.oriented[0] and curve.oriented[-1] >= curve.oriented.max():
        return Decision("inspect", f"too short to tell; {curve.name} is no better than at its first point", 0.5)
    points = f"{curve.n} point{'s' * (curve.n > 1)}"
    return Decision("continue", f"too short to tell either way: {points} of {curve.name}", 0.5)


def inspect_doubt(case: Case, health: Health) -> Decision | None:
    """No finding of weight, and yet a fault explains the whole better than health does."""
    leading = case.leading
    if health != "watch" or leading is None or leading.probability <= case.healthy:
        return None
    if undecided(case.hypotheses) and not any(f.severity in ("critical", "high", "medium") for f in case.findings):
        return None
    return Decision("inspect", f"possibly: {lowered(leading.title)}", leading.probability)


def inspect_poor(case: Case, health: Health) -> Decision | None:
    """A score that helps nobody and does not get better."""
    poor = poor_and_settled(case.features) if health == "watch" else ""
    return Decision("inspect", f"{poor}: more of the same will not help", 0.5) if poor else None


def go_on_watching(case: Case, health: Health) -> Decision | None:
    if health != "watch" or not case.findings:
        return None
    grave = next((f for f in case.findings if f.severity in ("critical", "high", "medium")), None)
    if grave is not None and case.shape not in LATE:
        return Decision("inspect", f"look at this before going on: {grave.message}", 0.5)
    return Decision("continue", f"keep an eye on this: {case.findings[0].message}", max(case.healthy, 0.5))


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
    return Decision("continue", reasons.get(case.shape or "", "nothing speaks against going on"), case.healthy)


# The first that applies is the decision; `go_on` always does.
REASONS: tuple[Callable[[Case, Health], Decision | None], ...] = (
    stop_broken, stop_without_rate, stop_unmoved, stop_overfitted, stop_stuck, wait_if_flat, inspect_sick, go_on_short,
    inspect_doubt, inspect_poor, go_on_watching, finish, go_on,
)  # fmt: skip
