"""The first screen of one run: the verdict, the leading cause with its evidence, and one thing to do."""

import math
import re
from collections.abc import Iterable

import msgspec

from traindx.features.curves.score_scales import scores
from traindx.features.shared import Features
from traindx.reports import labels
from traindx.reports.digest import ADVICE_PROBABILITY, Advice, Digest
from traindx.reports.labels import lower_first, name, number, percent, since_onset
from traindx.vocabulary import (
    Finding,
    Health,
    Hypothesis,
    NextMeasure,
    Run,
    RunDiagnosis,
    Series,
    direction_of,
)

LEADS = 0.35  # probability below which no cause leads: the page then names candidates
EVEN = 0.5  # a healthy run of which less is known than that is not called fine by its cause
NAMED = 0.1  # below it a cause is no candidate: dozens are as probable
NOTED, SIGN = 0.05, 2.0  # probability and log-odds from which a finding shows a fault that did no harm
LINE = r"\.py:\d+$"  # of a script
UNKNOWN_CAUSE = "Cannot tell the cause from this log"
FACTS = 2
LOST = 0.25  # of what a validation curve had gained, from which its end alone would mislead
MORE = 2
GRAVE = ("critical", "high", "medium")
TOO_SHORT = "too-short-to-tell"
EVENTS = ("loss-spikes-", "batch-size-jumps")  # what everybody sees who looks at the curves
ENOUGH = 10  # points from which a curve can be judged


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """`word`: the verdict; `style`: the health whose colour it has; `why`: the reason of the decision.
    `cause`: the leading cause in a sentence, under its `heading`; `facts`: the evidence that decides; `doing`: the
    heading of `first`, the one thing to do, and of `then`, what comes after it; `settle`: the measurement that could
    change the answer, `worth`: its price; `short`: what is missing from a log that cannot be judged."""

    word: str
    style: Health
    why: str
    heading: str
    cause: str
    facts: tuple[str, ...]
    doing: str
    first: Advice | None
    then: tuple[Advice, ...]
    settle: NextMeasure | None
    worth: str
    short: str


def brief(diagnosis: RunDiagnosis, contents: Digest, run: Run | None = None) -> Brief:
    """The first screen; `run` gives the numbers of the curves where there is no finding to quote."""
    silent = cannot_tell(diagnosis)
    run = None if measures_cost(diagnosis) else run
    leading = next(iter(contents.hypotheses), None)
    open_ = two_likeliest_faults(contents.hypotheses)
    heading, cause = cause_words(diagnosis, contents, silent)
    first, then = to_do(contents, bool(open_) or (leading is not None and leading.cause == "healthy"))
    if first is not None and run is not None and not applies_to_objective(first.why, run):
        first = msgspec.structs.replace(first, why="")
    settle = next((n for n in contents.next if n.decides and labels.may_settle(n, contents.open_bits)), None)
    return Brief(
        word="CANNOT TELL" if silent else labels.HEALTH_WORDS[diagnosis.health],
        style=diagnosis.health,
        why=labels.sentence(diagnosis.decision.reason),
        heading=heading,
        cause=cause,
        facts=facts(diagnosis, None if open_ else leading, run),
        doing="Worth doing" if leading is not None and leading.cause == "healthy" else "Do this first",
        first=first,
        then=then,
        settle=settle,
        worth=labels.price_and_worth(settle, contents.open_bits) if settle else "",
        short=what_to_add(diagnosis, run) if silent or (first is None and is_question_only(run)) else "",
    )


def measures_cost(diagnosis: RunDiagnosis) -> bool:
    """Whether the run was recorded to measure time or memory, so that its learning is not judged."""
    facts: dict[str, object] = diagnosis.run.setup.get("facts", {})  # type: ignore[assignment]
    return diagnosis.profile is not None or facts.get("measured_for") == "memory"


def applies_to_objective(expectation: str, run: Run) -> bool:
    """Whether what a fix promises fits this run: "the loss falls" is wrong where a score is the objective."""
    curve = Features(run).objective
    return curve is None or curve.sign > 0 or "loss" not in expectation


def cannot_tell(diagnosis: RunDiagnosis) -> bool:
    """Whether the run is too short to judge, and no finding is severe or shows the leading cause."""
    if measures_cost(diagnosis):
        return False
    if diagnosis.health != "watch" or any(f.severity in GRAVE for f in diagnosis.findings):
        return False
    top = next(iter(diagnosis.hypotheses), None)
    if top is None or top.pattern == TOO_SHORT:
        return top is not None or longest(diagnosis) < ENOUGH
    leads = top.cause != "healthy" and top.probability >= LEADS
    given: dict[str, object] = diagnosis.run.setup.get("facts", {})  # type: ignore[assignment]
    shown = {f.slug for f in diagnosis.findings if f.severity != "info"}
    shown.update(str(given.get("described", "")).split(","))
    return longest(diagnosis) < ENOUGH and not (leads and shown & {t.finding for t in top.for_})


def longest(diagnosis: RunDiagnosis) -> int:
    """Points of the longest loss, score or reward."""
    return max(
        (s.points for s in diagnosis.run.signals if not s.name.startswith(labels.NO_MEASURE)), default=0
    )


def is_question_only(run: Run | None) -> bool:
    """Whether somebody asked without pasting a row of the log."""
    return run is not None and any(e.code == "words-only" for e in run.events)


def what_to_add(diagnosis: RunDiagnosis, run: Run | None) -> str:
    """What to add to a log that cannot be judged."""
    if is_question_only(run):
        return "Paste the rows that training prints under the question: step or epoch, loss, validation loss, learning rate."
    curve = Features(run).objective if run is not None else None
    if run is not None and (curve is None or curve.n == 0):
        own = [
            run.originals.get(n, n)
            for n, s in run.series.items()
            if len(s) and not n.startswith(labels.NO_MEASURE)
        ]
        known = (
            f"; or name the signal that is one: --map train/loss={labels.name(own[0], 40)}" if own else ""
        )
        return f"Log a loss or a score with its step, then diagnose again{known}."
    have = curve.n if curve is not None else longest(diagnosis)
    if have < ENOUGH:
        return f"Diagnose again once {ENOUGH} points are logged ({have} so far)."
    return "Diagnose again later in the run: it is too short to judge yet."


def two_likeliest_faults(hypotheses: Iterable[Hypothesis]) -> tuple[Hypothesis, ...]:
    """The two most probable faults where no cause is probable enough to lead; else none."""
    listed = sorted(hypotheses, key=lambda h: -h.probability)
    if not listed or listed[0].probability >= LEADS:
        return ()
    return tuple([h for h in listed if h.cause != "healthy"][:2])


def cause_words(diagnosis: RunDiagnosis, contents: Digest, silent: bool) -> tuple[str, str]:
    """(heading, sentence) of the leading cause, or that there is none."""
    if not contents.hypotheses:
        return ("Cause", "No known cause fits these findings.") if contents.findings else ("", "")
    open_ = two_likeliest_faults(contents.hypotheses)
    leading, *others = contents.hypotheses
    if silent or (diagnosis.profile is not None and (open_ or leading.cause == "healthy")):
        return "", ""
    healthy = leading.cause == "healthy"
    if diagnosis.health == "healthy" and (open_ or (healthy and leading.probability < EVEN)):
        return "Assessment", "No finding points to a fault."
    if open_:
        return candidate_words(open_, bool(contents.findings))
    rivals = [h for h in others if h.probability >= ADVICE_PROBABILITY and (healthy or h.cause != "healthy")]
    other = f"; next candidate: {with_chance(rivals[0])}" if rivals else ""
    if healthy:
        harmless = diagnosis.health == "healthy" and not all(s.startswith(EVENTS) for s in notes(diagnosis))
        though = " The model works, although:" if harmless else ""
        return (
            "Assessment",
            f"{labels.certainty_at_start(leading.probability)} {with_chance(leading)}{other}.{though}",
        )
    heading = f"{labels.likelihood(leading.probability).capitalize()} cause"
    return heading, f"{name(leading.title)} ({percent(leading.probability)}){other}."


def candidate_words(open_: tuple[Hypothesis, ...], found: bool) -> tuple[str, str]:
    """(heading, sentence) where no cause leads; nothing for an error whose message is the whole answer."""
    known = [h for h in open_ if h.probability >= NAMED]
    if not known:
        return (UNKNOWN_CAUSE, f"No cause is more probable than {percent(NAMED)}.") if found else ("", "")
    lead = "Candidates" if len(known) > 1 else "The first of many candidates"
    return UNKNOWN_CAUSE, f"{lead}: {' or '.join(with_chance(h) for h in known)}."


def with_chance(hypothesis: Hypothesis) -> str:
    """ "the batch is too small (29 %)"."""
    return f"{lower_first(name(hypothesis.title))} ({percent(hypothesis.probability)})"


def facts(diagnosis: RunDiagnosis, leading: Hypothesis | None, run: Run | None) -> tuple[str, ...]:
    """The sentences that decide: findings that support the leading cause most, then what the curves did."""
    said: dict[str, str] = {}
    by_slug = {f.slug: f for f in reversed(diagnosis.findings)}
    terms = sorted(leading.for_, key=lambda t: -t.log_odds) if leading is not None else []
    named = [t.finding.partition(":")[0] for t in terms]
    for slug in (*named, *notes(diagnosis)):
        finding = by_slug.get(slug)
        if finding is not None and (
            finding.severity != "info" or leading is None or leading.cause == "healthy"
        ):
            said.setdefault(slug, message_with_onset(diagnosis, finding))
    reason = labels.sentence(diagnosis.decision.reason, 400)  # in the words of the findings
    found = [sentence for sentence in said.values() if not repeats_reason(sentence, reason)]
    quiet = not said or (
        leading is not None and leading.cause == "healthy"
    )  # else the findings speak for themselves
    if run is not None and quiet and len(found) < FACTS:
        stated = " ".join((reason, *said.values()))
        found += [
            words
            for signal, words in curve_sentences(run, labels.axis(diagnosis.run))
            if signal not in stated
        ]
    read = [f"{e['message']}." for e in diagnosis.run.events if e.get("code") == "doubtful-loss"]
    return (*found[:FACTS], *(labels.sentence(words, 240) for words in read[:1]))


def repeats_reason(sentence: str, reason: str) -> bool:
    """Whether the reason of the decision already has this sentence, or the error message that it quotes."""
    quoted = sentence.partition(": ")[2] or sentence
    return any(part[:40].lower() in reason.lower() for part in (sentence, quoted))


def notes(diagnosis: RunDiagnosis) -> list[str]:
    """Findings worth a sentence whatever leads: grave ones, and in a healthy run those that by themselves show
    a fault which did no harm here, name the line of the script to change, or are about a logged norm of gradients
    or weights. Its spikes and the like are named, too."""
    shown = [f.slug for f in diagnosis.findings if f.severity in GRAVE and f.consequence_of is None]
    if diagnosis.health != "healthy":
        return shown
    faults = [h for h in diagnosis.hypotheses if h.cause != "healthy" and h.probability >= NOTED]
    signs = {t.finding for h in faults[:1] for t in h.for_ if t.log_odds >= SIGN}
    norms = {s.name for s in diagnosis.run.signals if s.name.endswith("_norm")}
    more = [
        f
        for f in diagnosis.findings
        if f.slug in signs or f.where in norms or re.search(LINE, f.where or "")
    ]
    events = [f.slug for f in diagnosis.findings if f.slug.startswith(EVENTS)]
    return shown + [f.slug for f in more if f.slug not in shown and f.severity != "info"] + events


def message_with_onset(diagnosis: RunDiagnosis, finding: Finding) -> str:
    """A finding's message, with its onset where it names no place in the log itself."""
    words = labels.sentence(finding.message, 240).rstrip(".")
    onset = finding.onset_step
    place = labels.step(onset).replace(",", "")
    known = onset in (None, diagnosis.run.first_step) or re.search(
        rf"\b{re.escape(place)}\b|\b{re.escape(labels.axis(diagnosis.run))} \d", words.replace(",", "")
    )
    stop = "" if words.endswith("…") else "."
    return f"{words}{stop}" if known else f"{words} ({since_onset(diagnosis.run, onset)})."


def curve_sentences(run: Run, axis: str) -> list[tuple[str, str]]:
    """(signal, sentence): first and last logged value of the objective and of the validation measure."""
    features = Features(run)
    names = [] if features.objective is None else [features.objective.name]
    held = [n for n in ("val/loss", "val/accuracy") if n in run.series and n not in names]
    held = held or [c.name for c in scores(features, "val/", 2) if c.name not in names]
    return [(n, words) for n in (*names, *held[:1]) if (words := course_sentence(n, run.series[n], axis))]


def course_sentence(signal: str, series: Series, word: str) -> str:
    """ "train/loss fell from 2.31 (step 0) to 0.12 (step 900)"; nothing for fewer than two values. A validation curve
    that has lost much of what it had gained is described by its best value, too."""
    pairs = zip(series.steps.tolist(), series.values.tolist(), strict=True)
    finite = [(step, value) for step, value in pairs if math.isfinite(value)]
    if len(finite) < 2:
        return ""
    begin, end = finite[0][1], finite[-1][1]
    if begin == end and all(v == begin for _, v in finite):
        return f"{name(signal)} stayed at {number(begin)} throughout."
    sign = -1 if direction_of(signal) == "higher" else 1
    top = min(finite, key=lambda point: sign * point[1])
    start, best, last = (f"{number(v)} ({word} {labels.step(s)})" for s, v in (finite[0], top, finite[-1]))
    moved, lost = number(top[1]) != number(begin), abs(end - top[1]) > LOST * abs(top[1] - begin)
    if signal.startswith("val/") and moved and lost:
        return f"{name(signal)} {'fell' if sign > 0 else 'rose'} from {start} to {best} and ended at {last}."
    verb = "fell" if end < begin else "rose" if end > begin else "returned"
    return f"{name(signal)} {verb} from {start} to {last}."


def to_do(contents: Digest, without_fixes: bool) -> tuple[Advice | None, tuple[Advice, ...]]:
    """The one thing to do first, and at most two after it; no fix where no cause leads, or nothing is wrong."""
    fixes = [a for a in contents.advice if a.kind in labels.FIX_KINDS]
    own = [a for a in fixes if not a.otherwise] if not without_fixes else []
    other = [a for a in fixes if a.otherwise] if not without_fixes else []
    recommended = [a for a in contents.advice if a.kind not in labels.FIX_KINDS]
    urgent = [a for a in recommended if a.kind in ("checkpoint", "sanity")]
    ordered = [*own[:1], *urgent, *own[1:2], *other[:1], *(a for a in recommended if a not in urgent)]
    ordered = [a for i, a in enumerate(ordered) if not any(repeats(a, b) for b in ordered[:i])]
    return (ordered[0], tuple(ordered[1 : 1 + MORE])) if ordered else (None, ())


def repeats(a: Advice, b: Advice) -> bool:
    """Whether two pieces of advice repeat each other: both are about a checkpoint."""
    return "checkpoint" in a.text.lower() and "checkpoint" in b.text.lower()
