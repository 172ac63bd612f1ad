"""Health of a run: whether there is harm, judged by what the run achieved and by the findings."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from traindx.causes.verdict.ending import ENDED_BADLY, ended_badly, shorten_message
from traindx.causes.verdict.harm import (
    GENERALIZATION,
    HIDDEN,
    KEPT,
    ONLY_VALIDATED,
    SLOW,
    UNTRAINED,
    does_task,
    falls_short,
    has_strong_sign,
    is_calibrated,
    is_good,
    is_note,
    is_wasted,
    late_level,
    learns_well,
    loss_in_raw_units,
    nothing_carries_over,
    put_fault_before_lost_time,
    set_aside_lost_time,
    stands_still,
    stuck_as_reported,
    works,
)
from traindx.causes.verdict.patterns import fired_aspects, pattern
from traindx.causes.verdict.questions import is_unanswered
from traindx.features.comparisons.rate_sweep import range_test_of
from traindx.features.curves.gradient_norms import share_lost
from traindx.features.curves.progress import (
    clearly_falls,
    improves_clearly,
    is_learning,
    is_too_short,
    zero_is_unknown,
)
from traindx.features.curves.score_scales import best_skill, scores
from traindx.features.curves.settled_scores import poor_settled_score, score_fallen_back
from traindx.features.shared import Features
from traindx.vocabulary import Event, Finding, Health, Hypothesis, Outcome, Run, threshold

CURVES, OBJECTIVES = "LOS", "OBJ"
STUCK = ("loss-flat-from-start", "loss-at-chance")
SOLVED = (
    0.95  # of the way to perfect: a validation score that shows that the model learns, in however few points
)
NOT_YET = (*STUCK, "losses-stay-high", "loss-plateaus")  # normal in the first few steps


class Case(Struct, frozen=True):
    """Everything that a decision depends on."""

    findings: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    run: Run
    features: Features
    shape: str | None
    aspects: dict[str, frozenset[str]]

    def has(self, slug: str) -> bool:
        return slug in self.aspects

    @property
    def recorded(self) -> bool:
        """Whether modules were recorded, so that a rule that did not fire is evidence."""
        return bool(self.run.panels)

    @property
    def healthy(self) -> float:
        """Probability that nothing harmful is wrong."""
        return next((h.probability for h in self.judged if h.cause == "healthy"), 0.0)

    @property
    def leading(self) -> Hypothesis | None:
        """The most probable cause that is a fault."""
        return next((h for h in self.judged if h.cause != "healthy"), None)

    @property
    def judged(self) -> tuple[Hypothesis, ...]:
        """The hypotheses without the causes that do no harm to this run."""
        return set_aside_lost_time(self.hypotheses, self.run)


def without_harm(
    findings: Sequence[Finding],
    hypotheses: Sequence[Hypothesis],
    outcomes: Sequence[Outcome],
    run: Run,
    features: Features,
    *,
    least: float = threshold(
        0.9,
        "P(healthy)",
        basis="measured",
        source="of 89 recordings of unseen programs without harm, 85 had no fault",
    ),
) -> tuple[Hypothesis, ...]:
    """The hypotheses after judging harm: where a recording shows none, `healthy` comes first, and the
    other causes share the rest of the probability."""
    case = Case(
        tuple(findings), put_fault_before_lost_time(tuple(hypotheses), run), run, features,
        pattern(outcomes, run, features), fired_aspects(outcomes),
    )  # fmt: skip
    well = next((h for h in case.hypotheses if h.cause == "healthy"), None)
    if not case.recorded or well is None or well.probability >= least or health_of(case) != "healthy":
        return case.hypotheses
    part = (1 - least) / (1 - well.probability)
    first = replace(well, probability=least, pattern=case.shape, interval=None)
    others = (h for h in case.hypotheses if h.cause != "healthy")
    return (first, *(replace(h, probability=h.probability * part, interval=None) for h in others))


def health_of(
    case: Case,
    *,
    doubted: float = threshold(0.5, "P(healthy)", basis="convention", source="a fault is more likely"),
    hardly: float = threshold(
        0.2, "P(healthy)", basis="measured", source="gym: 1 % of healthy recordings have less"
    ),
    likely: float = threshold(
        0.5, "P(cause)", basis="theory", source="one fault more likely than all else together"
    ),
    sure: float = threshold(0.9, "probability", basis="convention", source="one in ten would be wrong"),
) -> Health:
    """failed: the run is useless. sick: a grave finding, or a lesser one that is unlikely in a healthy
    run. watch: something to check, or too little to judge. Otherwise healthy.

    Where modules were recorded, a probable cause is enough without a finding, unless the model does its task
    well. Where no number shows how well (reinforcement learning, games), only a near-certain cause counts."""
    if range_test_of(case.run) is not None:
        return "watch"  # it diverges by design
    if why_broken(case):
        return "failed"
    gravest = {f.severity for f in case.findings if counts(f, case)}
    leading, healthy = case.leading, case.healthy
    if gravest & {"critical", "high"}:
        grave = (f for f in case.findings if f.severity in ("critical", "high") and counts(f, case))
        only_slow = not case.recorded and all(costs_time(f) for f in grave)  # it gets there, only later
        return "sick" if healthy < doubted and not only_slow else "watch"
    if case.recorded and (case.features.loss_is_no_score or case.features.is_reinforcement):
        return health_without_score(case)
    done = has_no_harm(case)
    if "medium" in gravest and not (done and healthy >= sure):
        return "sick" if is_alarming(case) or stuck_as_reported(case.run, case.features) else "watch"
    if stuck_as_reported(case.run, case.features) and healthy < doubted:
        return "sick"
    if done:
        untrained = leading is not None and leading.cause in UNTRAINED and leading.probability >= sure
        unsound = untrained or (is_doubtful(case) and not is_calibrated(case.run, case.features))
        return "watch" if unsound or is_unknown(case) or is_slow(case) else "healthy"
    if case.recorded and healthy < hardly and leading is not None and leading.probability >= likely:
        sound = learns_well(case.run, case.features) or is_good(case.run, case.features)
        short = leading.cause == "learning-rate-too-low" and goes_on(case)
        excused = sound or is_too_short(case.run) or short or leading.cause == "undertrained"
        return "sick" if has_strong_sign(leading) and not excused else "watch"
    doubtful = is_doubtful(case) or is_extreme(case)
    return "watch" if doubtful or is_unknown(case) or is_slow(case) else "healthy"


def is_alarming(
    case: Case,
    *,
    unlikely: float = threshold(0.3, "P(healthy)", basis="convention", source="a fault is twice as likely"),
    possible: float = threshold(
        0.35, "P(cause)", basis="convention", source="from here on a report says 'possibly'"
    ),
) -> bool:
    """Whether a finding of medium severity means harm. A log shows one or two curves: without a possible cause, it is
    a thing to watch, unless a loss never changes, as in no run that works."""
    medium = [f for f in case.findings if f.severity == "medium" and counts(f, case)]
    if not case.recorded and all(costs_time(f) for f in medium):
        return False  # the run gets there, only later
    known = case.leading is not None and case.leading.probability >= possible
    return case.healthy < unlikely and (known or case.recorded or stands_still(case.findings))


def is_extreme(
    case: Case,
    *,
    strong: float = threshold(
        3.0, "log-odds", basis="convention", source="a setting at the far end of its scale"
    ),
) -> bool:
    """Whether a setting is far from usual where no number shows what it costs: the zero of the loss is not known."""
    unknown = case.recorded and zero_is_unknown(case.run)
    return unknown and case.leading is not None and has_strong_sign(case.leading, least=strong)


def has_no_harm(case: Case) -> bool:
    """Whether a recording shows that the model does its task, in the numbers where the leading cause would show."""
    leading = case.leading
    cause = leading.cause if leading is not None and leading.probability > case.healthy else ""
    if not case.recorded or cause in HIDDEN:
        return False
    if cause in ONLY_VALIDATED and not any(name.startswith("val/") for name in case.run.series):
        return works(case.run, case.features)
    return does_task(case.run, case.features, on_new_samples=cause in GENERALIZATION)


def health_without_score(
    case: Case,
    *,
    sure: float = threshold(0.9, "P(cause)", basis="convention", source="one in ten would be wrong"),
) -> Health:
    """Health where the loss is no score: of agents, by their rewards where they are logged."""
    flat = any(f.code.startswith((CURVES, OBJECTIVES)) and f.severity == "medium" for f in case.findings)
    rises = not case.features.loss_is_no_score and clearly_improving(case)
    known = case.leading is not None and case.leading.probability >= sure
    return "watch" if flat or (known and not rises) else "healthy"


def counts(finding: Finding, case: Case) -> bool:
    """Whether a finding can be harm: not a slow start of a young run, nor lost time that nobody pays for."""
    if finding.slug in NOT_YET and (is_too_short(case.run) or goes_on(case)) and not stands_still([finding]):
        return False
    if case.recorded and is_note(finding, case.run, case.features):
        return False
    return not (is_wasted(case.run) and costs_time(finding))


def goes_on(case: Case) -> bool:
    """Whether a recorded loss still falls at the end: then it has not levelled off, whatever its height."""
    return case.recorded and case.has("loss-still-falling-at-end")


def costs_time(finding: Finding) -> bool:
    return finding.code.startswith(SLOW) and finding.slug not in KEPT


def is_slow(case: Case) -> bool:
    """Whether most of the time is lost, which is worth a note even on a machine that costs nothing."""
    return any(f.severity in ("critical", "high") for f in case.findings if costs_time(f))


def is_doubtful(
    case: Case,
    *,
    hardly: float = threshold(
        0.2, "P(healthy)", basis="measured", source="gym: 1 % of healthy recordings have less"
    ),
    likely: float = threshold(
        0.65, "P(cause)", basis="convention", source="from here on a report says 'probably'"
    ),
    sure: float = threshold(
        0.6, "P(healthy)", basis="measured", source="gym: 95 % of healthy recordings have more"
    ),
    part: float = threshold(
        0.25, "of the first loss", basis="convention", source="more than the first few steps bring"
    ),
) -> bool:
    """Whether a fault explains the signals better than health does. For a model that does its task well, or
    comes closer to it without being stuck, one fault must be probable by itself (of few steps, one of
    two, because these do not separate a run that is too short from one that is too slow)."""
    leading, healthy = case.leading, case.healthy
    ahead = leading is not None and leading.probability > healthy
    curve = case.features.objective
    nears = curve is not None and (share_lost(curve) >= part or zero_is_unknown(case.run))
    behind = falls_short(case.run, case.features) is not None  # simple predictors do far better
    nears = nears and is_learning(case.features) is not False and not behind
    nears = nears and curve is not None and clearly_falls(curve) and others_agree(case.features)
    short = case.shape == "too-short-to-tell" and clearly_improving(case)
    if case.recorded and (short or nears or works(case.run, case.features)):
        faults = [h.probability for h in case.judged if h.cause != "healthy"]
        return ahead and sum(faults[: 2 if is_too_short(case.run) else 1]) >= likely
    return ahead or healthy < hardly or (case.recorded and healthy < sure)


def is_unknown(case: Case) -> bool:
    """Whether there is too little for a verdict, or the run ends at a poor level or at one that cannot be judged."""
    few = case.shape == "too-short-to-tell" or case.has("loss-improves-too-little-noise-considered")
    solved = best_skill(case.features, ("val/",)) >= SOLVED and case.run.points > 1
    if is_unanswered(case.run, case.findings, improving=clearly_improving(case)):
        return True
    short = (few and not solved and not clearly_improving(case)) or validation_worsens(case)
    found = (
        poor_settled_score(case.features),
        score_fallen_back(case.features),
        falls_short(case.run, case.features),
    )
    poor = any(what is not None for what in found)
    poor = poor or (
        (late_level(case.features, "outputs_explained") or 0.0) < 0 and case.has("loss-plateaus")
    )
    if case.shape != "still-learning" and not case.has("loss-still-falling-at-end"):
        poor = poor or loss_in_raw_units(case.run, case.features) is not None
    return short or poor or nothing_carries_over(case.aspects, case.features)


def validation_worsens(
    case: Case,
    *,
    few: float = threshold(4, "points", basis="convention", source="validation-gap-grows needs as many"),
    worse: float = threshold(
        0.02, "of the first", basis="convention", source="above the noise of an evaluation"
    ),
) -> bool:
    """Too few evaluations for a verdict, and the last is worse than the first."""
    curve = case.features.curve("val/loss")
    if curve is None or not 1 < curve.n < few:
        return False
    return bool(curve.as_loss[-1] - curve.as_loss[0] > worse * abs(curve.as_loss[0]))


def clearly_improving(case: Case) -> bool:
    """Whether the objective or the validation loss clearly improves, and nothing in validation contradicts it."""
    curves = [case.features.objective, case.features.curve("val/loss")]
    return others_agree(case.features) and any(c is not None and improves_clearly(c) for c in curves)


def others_agree(
    features: Features,
    *,
    worse: float = threshold(
        0.02, "of the first", basis="convention", source="above the noise of an evaluation"
    ),
) -> bool:
    """Whether no validation loss and no score ends worse than it began, or never changes."""
    val = features.curve("val/loss")
    others = [*([val] if val is not None and val.n > 1 else []), *scores(features, "val/", 2)]
    return not any(
        c.as_loss[-1] - c.as_loss[0] > worse * abs(float(c.values[0])) or (c.n > 2 and np.ptp(c.values) == 0)
        for c in others
    )


def ending_error(case: Case) -> Event | None:
    """The error that ended the run."""
    survived = "survived" in case.aspects.get("out-of-memory", frozenset())
    return ended_badly(case.run, case.features, survived=survived)


def why_broken(case: Case) -> str | None:
    """Why the run can no longer be used, or None."""
    ended = ending_error(case)
    if ended is not None:
        why, message = ENDED_BADLY[ended.kind], shorten_message(ended.message)
        return why if message.lower() in why else f"{why} ({message})"
    grave = any(f.slug == "loss-not-finite" and f.severity == "critical" for f in case.findings)
    if grave and ends_not_finite(case):
        return "the loss is not finite and does not recover"
    if not case.run.series and "said" in case.aspects.get("loss-not-finite", frozenset()):
        return "by the question, the loss is no longer finite"
    if diverged_for_good(case):
        return "the loss has diverged and ends no better than it started"
    if "scale-lost" in case.aspects.get("steps-skipped-often", frozenset()):
        return "the loss scale has fallen to its minimum: no gradient is finite, and every step is skipped"
    if "frozen" in case.aspects.get("loss-at-chance", frozenset()):
        return "the loss equals that of guessing in every digit: the outputs no longer depend on the input"
    return None


def ends_not_finite(case: Case) -> bool:
    """The last logged objective is NaN or infinite."""
    curve = case.features.objective
    return curve is not None and len(curve.raw) > 0 and not np.isfinite(curve.raw.values[-1])


def diverged_for_good(
    case: Case,
    *,
    visible: float = threshold(
        1.25, "x the best level", basis="convention", source="a milder rise may pass"
    ),
    far: float = threshold(10.0, "x the first loss", basis="convention", source="few points are enough"),
    immense: float = threshold(
        1e3, "x the first loss", basis="convention", source="for two or three points"
    ),
    few: float = threshold(20, "points", basis="convention", source="more show that it lasts"),
    same: float = threshold(
        0.01, "of the first level", basis="convention", source="the noise of two levels"
    ),
) -> bool:
    """A divergence was seen, and the curve ends clearly no better than it began: in few points, only if it
    ends far above its start."""
    curve = case.features.objective
    if curve is None or not (case.has("loss-diverges") or case.has("loss-spikes-then-fails")):
        return False
    if not curve.name.endswith("/loss"):
        return False  # of a score, the best model can be used; a part may be re-weighted
    aspects = case.aspects.get("loss-diverges", frozenset())
    if {"others-improve", "held-out"} & aspects:
        return False  # what the loss is made of may have changed, or nothing shows that training diverged
    first, last = float(curve.as_loss[0]), float(curve.as_loss[-1])
    if "exploded" in aspects or curve.n < few:
        return "exploded" in aspects or last >= (far if curve.n >= 4 else immense) * first
    if "short" in aspects:  # the smoothed start may be behind the jump
        return curve.end >= visible * first
    return curve.end >= max(curve.start - same * abs(curve.start), visible * curve.best)
