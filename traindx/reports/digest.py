"""The contents of a report on one run, before any format: grouped, ordered and shortened.

Text, Markdown and HTML all show this digest; the JSON shows the diagnosis itself.
"""

import re
from collections.abc import Iterable

import msgspec

from traindx.reports.labels import FIX_KINDS, clean, open_bits
from traindx.vocabulary import (
    Finding,
    ForecastPoint,
    Hypothesis,
    NextMeasure,
    NotEvaluated,
    RunDiagnosis,
)

SHOWN_CAUSES = 4
LEAST_PROBABILITY = 0.05  # a cause below this is not shown, unless it is the first
ADVICE_PROBABILITY = 0.15  # a cause below this has its fixes left out
FIXES_PER_CAUSE = 3
LEAST_GAIN = 0.05  # bits; a measurement that settles less is not proposed

MODULE_GROUPS = (
    ("grad_", "per-module gradients"),
    ("act_", "per-module activations"),
    ("weight_", "per-module weights"),
    ("update_ratio", "per-module updates"),
    ("quant/", "quantization"),
    ("rank/", "a log per process"),
    ("setup:", "facts about the setup"),
)
TOO_SHORT = r"needs \d+ (?:finite )?points of (?P<signal>\S+), there are \d+$"
CAPTURED = "traindx"  # the format of a run that was recorded
CAPTURE_HINT = "record with traindx run"
HINTS = {
    "a log per process": "log every rank",
    "facts about the setup": "traindx check finds most of them, or give --fact name=value",
}


class Seen(msgspec.Struct, frozen=True):
    """A finding with its number in the report and what follows from it."""

    number: int
    finding: Finding
    consequences: tuple[Finding, ...] = ()


class Advice(msgspec.Struct, frozen=True):
    """One thing to do, what to expect of it or why, and `kind`: a fix's applicability or a
    recommendation's kind. `otherwise` names the cause, where it is not the most likely one."""

    text: str
    why: str = ""
    otherwise: str = ""
    kind: str = ""

    @property
    def reason(self) -> str:
        """What a fix is expected to bring, or what a recommendation rests on, as a sentence."""
        lead = "Expect: " if self.kind in FIX_KINDS else "Because "
        return f"{lead}{clean(self.why, 300).rstrip('.')}." if self.why else ""


class Unchecked(msgspec.Struct, frozen=True):
    """Rules that were not evaluated for one reason; `hint` says how to have them evaluated."""

    reason: str
    hint: str
    slugs: tuple[str, ...]

    @property
    def count(self) -> int:
        return len(self.slugs)

    @property
    def sentence(self) -> str:
        """ "23 need per-module gradients (record with traindx run)"."""
        what = self.reason.removeprefix("needs ")
        verb = "" if what == self.reason else ("needs " if self.count == 1 else "need ")
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.count} {verb}{what}{hint}" if verb else f"{self.count} because {what}{hint}"


# Where the ranking is sure of a fault that no rule saw.
UNSEEN = "No fault was found."
UNJUDGED = "No fault was found, but the log shows too little to call the run healthy."
NO_SINGLE_RULE = "No single rule fired. The verdict follows from all signs together, listed below."


class Digest(msgspec.Struct, frozen=True, kw_only=True):
    """`findings`: what is wrong, most important first, `unseen`: what to say if there are none; `notes`: what is
    only worth knowing; `hypotheses`: the causes worth showing; `log_events`: the reader's remarks on the log;
    `diagnosis`: what all of it is derived from."""

    diagnosis: RunDiagnosis
    unseen: str
    findings: tuple[Seen, ...]
    notes: tuple[Finding, ...]
    hypotheses: tuple[Hypothesis, ...]
    advice: tuple[Advice, ...]
    forecast: tuple[tuple[ForecastPoint, ...], ...]
    next: tuple[NextMeasure, ...]
    open_bits: float
    log_events: tuple[dict[str, object], ...]

    @property
    def unchecked(self) -> tuple[Unchecked, ...]:
        """The rules that were not evaluated, by what they lack; shown in full reports only."""
        run = self.diagnosis.run
        return unchecked_rules(
            self.diagnosis.not_evaluated, (s.name for s in run.signals), run.format == CAPTURED
        )


def digest(diagnosis: RunDiagnosis) -> Digest:
    """Group and shorten one run's diagnosis for people."""
    seen, notes = grouped_findings(diagnosis.findings)
    ill, well = diagnosis.health in ("sick", "failed"), diagnosis.health == "healthy"
    return Digest(
        diagnosis=diagnosis,
        unseen=NO_SINGLE_RULE if ill else UNSEEN if well else UNJUDGED,
        findings=seen,
        notes=notes,
        hypotheses=shown_hypotheses(diagnosis.hypotheses, not well),
        advice=advice(diagnosis, not well),
        forecast=grouped_forecast(diagnosis.forecast),
        next=tuple(n for n in diagnosis.next if n.gain_bits >= LEAST_GAIN),
        open_bits=open_bits(h.probability for h in diagnosis.hypotheses),
        log_events=diagnosis.run.events,
    )


def grouped_findings(findings: tuple[Finding, ...]) -> tuple[tuple[Seen, ...], tuple[Finding, ...]]:
    """Numbered findings with their consequences, and the notes (severity info, no consequence).

    A chain of consequences hangs on its first link; one whose premise is not among the findings,
    or that goes in a circle, represents itself."""
    first: dict[str, Finding] = {}
    for finding in findings:
        first.setdefault(finding.slug, finding)
    children: dict[int, list[Finding]] = {}
    roots: list[Finding] = []
    for finding in findings:
        root = _root(finding, first)
        if root is finding:
            roots.append(finding)
        else:
            children.setdefault(id(root), []).append(finding)
    notes = [f for f in roots if f.severity == "info" and id(f) not in children]
    shown = [f for f in roots if not any(f is n for n in notes)]
    seen = (Seen(i, f, tuple(children.get(id(f), ()))) for i, f in enumerate(shown, 1))
    return tuple(seen), tuple(notes)


def _root(finding: Finding, first: dict[str, Finding]) -> Finding:
    passed = {finding.slug}
    at = finding
    while at.consequence_of is not None and at.consequence_of in first:
        if at.consequence_of in passed:
            return finding
        passed.add(at.consequence_of)
        at = first[at.consequence_of]
    return at


def shown_hypotheses(hypotheses: tuple[Hypothesis, ...], ill: bool = False) -> tuple[Hypothesis, ...]:
    """The causes worth showing, most probable first; "nothing is wrong" is left out for a run that is `ill`, or to
    be watched."""
    ordered = sorted(
        (h for h in hypotheses if not (ill and h.cause == "healthy")), key=lambda h: -h.probability
    )
    worthy = [h for i, h in enumerate(ordered) if i == 0 or h.probability >= LEAST_PROBABILITY]
    return tuple(worthy[:SHOWN_CAUSES])


def advice(diagnosis: RunDiagnosis, ill: bool = False) -> tuple[Advice, ...]:
    """The fixes of the first cause, the recommendations, then the fixes of other likely causes (fewer
    of them), without repetitions."""
    shown = shown_hypotheses(diagnosis.hypotheses, ill)
    causes = [h for h in shown if h.cause != "healthy" and h.probability >= ADVICE_PROBABILITY]
    leading = [h for h in causes if h is shown[0]]  # none where a run is most likely well
    items = [
        Advice(f.change, f.expected, "", f.applicability) for h in leading for f in h.fixes[:FIXES_PER_CAUSE]
    ]
    items += [Advice(r.text, r.because, "", r.kind) for r in diagnosis.recommendations]
    for cause in causes[len(leading) :]:
        fixes = cause.fixes[: FIXES_PER_CAUSE - 1]
        items += [Advice(f.change, f.expected, cause.title, f.applicability) for f in fixes]
    known: dict[str, Advice] = {}
    for item in items:
        known.setdefault(item.text, item)
    return tuple(known.values())


def grouped_forecast(points: tuple[ForecastPoint, ...]) -> tuple[tuple[ForecastPoint, ...], ...]:
    """Forecasts of the same signal and step together, narrow interval first."""
    groups: dict[tuple[str, float], list[ForecastPoint]] = {}
    for point in points:
        groups.setdefault((point.signal, point.at_step), []).append(point)
    return tuple(tuple(sorted(group, key=lambda p: p.level)) for group in groups.values())


def unchecked_rules(
    items: tuple[NotEvaluated, ...], signals: Iterable[str], captured: bool = False
) -> tuple[Unchecked, ...]:
    """Rules that were not evaluated, by what was missing, the largest group first. Of a run that was
    `captured`, everything was recorded, so the advice to log more would be wrong."""
    present = set(signals)
    groups: dict[tuple[str, str], list[str]] = {}
    for item in items:
        groups.setdefault(_why_unchecked(item, present, captured), []).append(item.slug)
    largest = sorted(groups.items(), key=lambda g: -len(g[1]))
    return tuple(Unchecked(reason, hint, tuple(slugs)) for (reason, hint), slugs in largest)


def _why_unchecked(item: NotEvaluated, present: set[str], captured: bool) -> tuple[str, str]:
    """(reason, hint) that a rule shares with others which miss the same thing."""
    short = re.match(TOO_SHORT, item.reason)
    if short:
        return f"needs more points of {short['signal']}", ""
    for need in item.needs:
        options = need.split("|")
        if any(o in present or o in ("objective", "run") for o in options):
            continue
        if "not recorded" not in item.reason and options[0].endswith("/*"):
            break  # it is there, and not enough of it: the rule says why
        for prefix, words in MODULE_GROUPS:
            if options[0].startswith(prefix) and ("/" in options[0] or ":" in options[0]):
                if captured and words not in HINTS:
                    return "needs a kind of module that the model does not have", ""
                return f"needs {words}", HINTS.get(words, CAPTURE_HINT)
        if options[0].startswith("val/"):
            return "needs a validation metric", "evaluate on held-out data, and log it"
        if options[0].startswith("event:"):
            return f"needs an event of the kind {options[0][6:]}", ""
        if "not recorded" in item.reason:
            return f"needs {' or '.join(options)}", "" if captured else "log it"
    return item.reason, ""
