"""From outcomes to findings: one fault gives one primary finding, and the others are its consequences."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from traindx.vocabulary import SEVERITIES, Evidence, EvidencePoint, Finding, NotEvaluated, Outcome, Run

LARGE = 1e6  # from here on a number is written with a power of ten
DIGITS = 1e12  # a smaller step is written with all digits, as in the log
ONE = re.compile(r"(?<![\w.,-])1 (point|time|step|sample|module|unit|row)s\b")
NUMBERED = r"\d[\d.]*(?:, \d[\d.]*)*"  # modules of a Sequential, which have no other name
OF_MODULES = ("ACT", "GRD", "QNT", "WGT")  # families whose places are modules
MEASURED = ("", "L2", "nats", "loss", "s", "bytes")  # units of signals; others are shares and counts of them
PLACE = r"\bstep (?=-?\d)"  # a place in the log, which may count epochs
NUMBERS = (  # (how rules write a number, how it is written on the rest of the page)
    (re.compile(r"(?<![\w.])(\d[\d.]*)%(?!\w)"), r"\1 %"),
    (re.compile(r"(?<![\w./])(?<!\w-)(\d[\d.]*)e(-?)\+?0*(\d+)(?![\w/])"), r"\1e\2\3"),
)


def findings(outcomes: Iterable[Outcome], run: Run) -> tuple[Finding, ...]:
    """All findings, most important first: primary ones by severity and onset, each followed by
    its consequences."""
    fired = [o for o in outcomes if o.status == "fired"]
    strongest = {
        o.rule.slug: max(o.evidence, key=lambda e: (-SEVERITIES.index(severity_of(o, e)), e.strength))
        for o in fired
    }
    made = [make_finding(o, strongest[o.rule.slug], parent_of(o, fired), run) for o in fired]
    return tuple(by_importance(made))


def severity_of(outcome: Outcome, evidence: Evidence) -> str:
    return evidence.severity or outcome.rule.severity


def parent_of(outcome: Outcome, fired: Sequence[Outcome]) -> str | None:
    """The fired rule that this one follows from: the first that its rule names."""
    parents = {o.rule.slug for o in fired if outcome.follows_from(o)}
    return next((slug for slug in outcome.rule.follows if slug in parents), None)


class LargeNumber(float):
    """A large number, which is written with a power of ten."""

    def __format__(self, spec: str) -> str:
        if spec.endswith("f"):
            return f"{float(self):.2g}"
        if spec.endswith("%"):
            return f"{100 * float(self):.2g}%"
        if spec == "g" and self.is_integer() and abs(self) < DIGITS:
            return f"{int(self)}"
        return format(int(self) if spec.endswith(("d", ",")) else float(self), spec)


def shorten_value(value: object) -> object:
    long = isinstance(value, int | float) and abs(value) >= LARGE and math.isfinite(value)
    return LargeNumber(str(value)) if long else value


def fill_message(text: str, values: Mapping[str, object]) -> str:
    """The message of a rule with its numbers, and with singular nouns after a 1."""
    return ONE.sub(r"1 \1", text.format_map({name: shorten_value(value) for name, value in values.items()}))


def with_module_word(family: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """The values of a message, with the word "module" before a name that is only a number."""
    where = str(values.get("where", ""))
    if family not in OF_MODULES or not re.fullmatch(NUMBERED, where):
        return values
    return {**values, "where": f"module{'s' if ',' in where else ''} {where}"}


def make_finding(outcome: Outcome, evidence: Evidence, parent: str | None, run: Run) -> Finding:
    """The finding of one rule: the message of its strongest evidence, and the numbers of all."""
    points = [p for e in (evidence, *(x for x in outcome.evidence if x is not evidence)) for p in e.points]
    text = evidence.message or outcome.rule.message
    return Finding(
        code=outcome.rule.code,
        slug=outcome.rule.slug,
        family=outcome.rule.family,
        severity=severity_of(outcome, evidence),  # type: ignore[arg-type]
        onset_step=evidence.onset,
        last_step=evidence.last,
        where=evidence.where,
        message=in_one_style(
            fill_message(text, with_module_word(outcome.rule.family, evidence.values)), run.axis
        ),
        consequence_of=parent,
        aspects=evidence.aspects,
        evidence=tuple(as_logged(p, run) for p in points[:12]),
    )


def in_one_style(message: str, axis: str) -> str:
    """A message with its numbers as on the rest of the page: "epoch 12,000 to 13,000", "56 %", "2e-8"."""
    message = re.sub(PLACE, f"{axis} ", message)
    places = re.compile(rf"\b{re.escape(axis)} \d{{4,}}(?: to \d{{4,}})?(?![\d.e])")
    message = places.sub(lambda found: re.sub(r"\d+$|\d+(?= )", with_commas, found[0]), message)
    for written, shown in NUMBERS:
        message = written.sub(shown, message)
    return message


def with_commas(found: re.Match[str]) -> str:
    return f"{int(found[0]):,}"


def as_logged(point: EvidencePoint, run: Run) -> EvidencePoint:
    """A number as evidence, called smoothed where the log has another one at its step."""
    series = run.series.get(point.signal)
    if series is None or point.step is None or point.unit not in MEASURED:
        return point
    there = series.values[series.steps == point.step]
    if not len(there) or np.isclose(there, point.value, rtol=1e-9, atol=0, equal_nan=True).any():
        return point
    return msgspec.structs.replace(point, unit=f"{point.unit} (smoothed)".strip())


def by_importance(made: Sequence[Finding]) -> list[Finding]:
    """Primary findings by severity and onset, each followed by its consequences."""

    def weight(f: Finding) -> tuple[int, float, str]:
        return (
            SEVERITIES.index(f.severity),
            f.onset_step if f.onset_step is not None else float("inf"),
            f.code,
        )

    slugs = {f.slug for f in made}
    children: dict[str, list[Finding]] = {}
    primary = []
    for f in sorted(made, key=weight):
        if f.consequence_of in slugs and f.consequence_of != f.slug:
            children.setdefault(str(f.consequence_of), []).append(f)
        else:
            primary.append(f)
    out: list[Finding] = []

    def place(f: Finding) -> None:
        if f in out:
            return
        out.append(f)
        for child in children.pop(f.slug, []):
            place(child)

    for f in primary:
        place(f)
    for rest in list(children.values()):  # rules that follow from each other
        for f in rest:
            place(f)
    return out


def not_evaluated(outcomes: Iterable[Outcome]) -> tuple[NotEvaluated, ...]:
    """The rules that could not be evaluated, with the reasons."""
    return tuple(
        NotEvaluated(o.rule.code, o.rule.slug, o.reason, o.rule.needs)
        for o in outcomes
        if o.status == "not-evaluated"
    )
