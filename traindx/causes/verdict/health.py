"""How the run is: whether there is harm, by what was achieved and by what was found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from traindx.causes.verdict.ending import ENDED_BADLY, ended_badly
from traindx.causes.verdict.harm import (
    FOR_NOTHING,
    KEPT,
    SLOW,
    accused,
    is_good,
    is_wasted,
    learns_well,
    works,
)
from traindx.causes.verdict.patterns import fired, pattern
from traindx.features.curves.progress import young
from traindx.features.curves.score_scales import (
    ERRORS,
    HARD,
    best_skill,
    late,
    scale_of,
    scores,
    skill,
    words_of,
)
from traindx.features.shared import Features
from traindx.features.statistics.medians import median
from traindx.features.statistics.trends import slope
from traindx.vocabulary.diagnosis import Finding, Health, Hypothesis
from traindx.vocabulary.rule import Outcome, threshold
from traindx.vocabulary.run import Event, Run

OVERLAPS = frozenset({"iou", "miou", "dice", "jaccard", "f1", "fscore"})
CURVES = "LOS"
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
    def recorded(self) -> bool:
        """Whether modules were recorded, so that silence says something."""
        return bool(self.run.panels)

    @property
    def harmless(self) -> frozenset[str]:
        """The causes that do this run no harm."""
        return FOR_NOTHING if is_wasted(self.run) else frozenset()

    @property
    def healthy(self) -> float:
        """Probability that nothing is wrong that does harm."""
        return sum(
            h.probability for h in self.hypotheses if h.cause == "healthy" or h.cause in self.harmless
        )

    @property
    def leading(self) -> Hypothesis | None:
        """The most probable cause that is something wrong."""
        wrong = (h for h in self.hypotheses if h.cause != "healthy" and h.cause not in self.harmless)
        return next(wrong, None)


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
    """The hypotheses once harm was asked for: where a recording shows none, `healthy` comes first, and the causes that
    its signs speak for share what is left."""
    case = Case(
        tuple(findings), tuple(hypotheses), run, features, pattern(outcomes, run, features), fired(outcomes)
    )
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
    doubted: float = threshold(0.5, "P(healthy)", basis="convention", source="more likely ill than not"),
    unlikely: float = threshold(0.3, "P(healthy)", basis="convention", source="ill by more than two to one"),
    hardly: float = threshold(
        0.2, "P(healthy)", basis="measured", source="gym: 1 % of healthy recordings have less"
    ),
    likely: float = threshold(
        0.5, "P(cause)", basis="theory", source="one fault more likely than all else together"
    ),
    sure: float = threshold(
        0.9, "P(cause)", basis="convention", source="words of probability: almost certain"
    ),
) -> Health:
    """failed: broken beyond use; sick: a grave finding, or a lesser one that health hardly explains; watch: something
    to keep an eye on, or nothing that can be judged; else healthy. Where modules were recorded, a probable cause
    counts by itself, but not where the net does what it is there for; where no number says how well it goes, only
    what leaves no doubt counts."""
    if broken(case):
        return "failed"
    gravest = {f.severity for f in case.findings if counts(f, case)}
    leading, healthy = case.leading, case.healthy
    if gravest & {"critical", "high"}:
        return "sick" if healthy < doubted else "watch"
    if case.recorded and (case.features.loss_is_no_score or case.features.is_reinforcement):
        stands = any(
            f.code.startswith(CURVES) and f.severity == "medium" for f in case.findings
        )  # of the rewards
        return "watch" if stands or (leading is not None and leading.probability >= sure) else "healthy"
    if "medium" in gravest:
        return "sick" if healthy < unlikely else "watch"
    if case.recorded and healthy < hardly and leading is not None and leading.probability >= likely:
        sound = learns_well(case.run, case.features) or is_good(case.features)
        excused = sound or young(case.run) or leading.cause == "undertrained"
        return "sick" if accused(leading) and not excused else "watch"
    return "watch" if is_doubtful(case) or is_unknown(case) or is_slow(case) else "healthy"


def counts(finding: Finding, case: Case) -> bool:
    """Whether a finding can be harm: not what a few steps cannot help, nor time lost that nobody pays for."""
    if young(case.run) and finding.slug in NOT_YET:
        return False
    return not (is_wasted(case.run) and costs_time(finding))


def costs_time(finding: Finding) -> bool:
    return finding.code.startswith(SLOW) and finding.slug not in KEPT


def is_slow(case: Case) -> bool:
    """Whether most of the time is lost: worth a word even where it costs nobody anything."""
    return any(f.severity in ("critical", "high") for f in case.findings if costs_time(f))


def is_doubtful(
    case: Case,
    *,
    hardly: float = threshold(
        0.2, "P(healthy)", basis="measured", source="gym: 1 % of healthy recordings have less"
    ),
    likely: float = threshold(
        0.5, "P(cause)", basis="theory", source="one fault more likely than all else together"
    ),
    sure: float = threshold(
        0.6, "P(healthy)", basis="measured", source="gym: 95 % of healthy recordings have more"
    ),
) -> bool:
    """Whether a fault explains what was seen better than health does; of a net that does what it is there for, whether
    one fault stands out."""
    leading, healthy = case.leading, case.healthy
    ahead = leading is not None and leading.probability > healthy
    if case.recorded and works(case.run, case.features):
        return ahead and leading is not None and leading.probability >= likely
    return ahead or healthy < hardly or (case.recorded and healthy < sure)


def is_unknown(case: Case) -> bool:
    """Whether too little is there for a verdict, or what is there stands still at a poor place."""
    short = case.shape == "too-short-to-tell" and not clearly_improving(case)
    short = short or case.has("loss-improves-too-little-noise-considered") or validation_worsens(case)
    return short or bool(poor_and_settled(case.features)) or nothing_carries_over(case)


def nothing_carries_over(
    case: Case,
    *,
    good: float = threshold(
        0.7, "of the way to perfect", basis="convention", source="a held-out score of use"
    ),
) -> bool:
    """Validation stands far from training, or still while training goes on, and no score says that it is good all the
    same: converged, and yet not simply healthy."""
    gap = case.aspects.get("validation-gap-grows", frozenset())
    return bool(gap & {"stalled", "wide"}) and best_skill(case.features, ("val/",)) < good


def poor_and_settled(
    features: Features,
    *,
    poor: float = threshold(
        0.4, "of the way to perfect", basis="convention", source="an accuracy that helps nobody"
    ),
    none: float = threshold(
        0.05, "of the way to perfect", basis="convention", source="mAP and BLEU are low by nature"
    ),
    least: float = threshold(
        5, "points", basis="convention", source="fewer do not show that it has settled"
    ),
    moves: float = threshold(
        0.03, "of the scale", basis="convention", source="an improvement worth waiting for"
    ),
    fair: float = threshold(
        0.15, "of the way to perfect", basis="convention", source="overlaps that find nothing"
    ),
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
    few: float = threshold(
        4, "points", basis="convention", source="the rule on growing gaps asks for as many"
    ),
    worse: float = threshold(
        0.02, "of the first", basis="convention", source="beyond what an evaluation wavers by"
    ),
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
    much: float = threshold(
        0.1, "of the first", basis="convention", source="few points: better each time, by this"
    ),
    surely: float = threshold(4.0, "x standard error", basis="theory", source="a trend beyond doubt"),
) -> bool:
    """Whether even a short curve leaves no doubt that it improves."""
    curve = case.features.objective
    if curve is None or curve.n < least or not others_agree(case.features):
        return False
    y = curve.oriented
    if (
        least < curve.n < 2 * least + 2
        and float(np.diff(y).max()) < 0
        and y[0] - y[-1] > much * abs(float(y[0]))
    ):
        return True
    fit = slope(y)
    return bool(fit.change < -surely * fit.error)


def others_agree(
    features: Features,
    *,
    worse: float = threshold(
        0.02, "of the first", basis="convention", source="beyond what an evaluation wavers by"
    ),
) -> bool:
    """Whether no held-out loss and no score ends worse than it began, or never moves."""
    val = features.curve("val/loss")
    others = [*([val] if val is not None and val.n > 1 else []), *scores(features, "val/", 2)]
    return not any(
        c.oriented[-1] - c.oriented[0] > worse * abs(float(c.values[0]))
        or (c.n > 2 and np.ptp(c.values) == 0)
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
        return (
            "the loss scale has sunk to nothing: the gradients are not finite, and no step is taken any more"
        )
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
