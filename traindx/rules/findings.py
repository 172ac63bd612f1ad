"""From outcomes to findings: one fault gives one primary finding, the rest hang on it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from traindx.vocabulary.diagnosis import SEVERITIES, Finding, NotEvaluated
from traindx.vocabulary.rule import Evidence, Outcome

LONG = 1e6  # from here on a number is written with a power of ten
DIGITS = 1e12  # below it a step is still written as it stands in the log
ONE = re.compile(r"(?<![\w.,-])1 (point|time|step|sample|module|unit|row)s\b")
NUMBERED = re.compile(r"\d[\d.]*(?:, \d[\d.]*)*")  # modules of a Sequential, which have no other name
OF_MODULES = ("ACT", "GRD", "QNT", "WGT")  # families whose places are modules
PLACE = re.compile(r"\bstep (?=-?\d)")  # a place in the log, which need not count steps


def findings(outcomes: Iterable[Outcome], axis: str = "step") -> tuple[Finding, ...]:
    """All findings, most important first: primary ones by severity and onset, each followed by
    its consequences. `axis` is what the log counts: "epoch" where its rows are epochs."""
    fired = [o for o in outcomes if o.status == "fired"]
    strongest = {
        o.rule.slug: max(o.evidence, key=lambda e: (-SEVERITIES.index(severity_of(o, e)), e.strength))
        for o in fired
    }
    made = [finding(o, strongest[o.rule.slug], parent_of(o, fired), axis) for o in fired]
    return tuple(in_order(made))


def severity_of(outcome: Outcome, evidence: Evidence) -> str:
    return evidence.severity or outcome.rule.severity


def parent_of(outcome: Outcome, fired: Sequence[Outcome]) -> str | None:
    """The fired rule that this one follows from: the first that its rule names."""
    parents = {o.rule.slug for o in fired if outcome.follows_from(o)}
    return next((slug for slug in outcome.rule.follows if slug in parents), None)


class Long(float):
    """A number too long to be read digit by digit: written with a power of ten."""

    def __format__(self, spec: str) -> str:
        if spec.endswith("f"):
            return f"{float(self):.2g}"
        if spec.endswith("%"):
            return f"{100 * float(self):.2g}%"
        if spec == "g" and self.is_integer() and abs(self) < DIGITS:
            return f"{int(self)}"
        return format(int(self) if spec.endswith(("d", ",")) else float(self), spec)


def readable(value: object) -> object:
    long = isinstance(value, int | float) and abs(value) >= LONG and math.isfinite(value)
    return Long(str(value)) if long else value


def said(text: str, values: Mapping[str, object]) -> str:
    """A rule's message with its numbers; one of a thing is no plural."""
    return ONE.sub(r"1 \1", text.format_map({name: readable(value) for name, value in values.items()}))


def placed(family: str, values: Mapping[str, object]) -> Mapping[str, object]:
    """The values of a message, with the word for a module that is called by a number alone."""
    where = str(values.get("where", ""))
    if family not in OF_MODULES or not NUMBERED.fullmatch(where):
        return values
    return {**values, "where": f"module{'s' if ',' in where else ''} {where}"}


def finding(outcome: Outcome, evidence: Evidence, parent: str | None, axis: str) -> Finding:
    """The finding of one rule, from its strongest evidence; the numbers of the others are kept."""
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
        message=PLACE.sub(f"{axis} ", said(text, placed(outcome.rule.family, evidence.values))),
        consequence_of=parent,
        aspects=evidence.aspects,
        evidence=tuple(points[:12]),
    )


def in_order(made: Sequence[Finding]) -> list[Finding]:
    """Primary findings first by severity, then onset; consequences directly after their parent."""

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
    for rest in list(children.values()):  # rules that name each other
        for f in rest:
            place(f)
    return out


def not_evaluated(outcomes: Iterable[Outcome]) -> tuple[NotEvaluated, ...]:
    """The rules that could not be asked, with the reason."""
    return tuple(
        NotEvaluated(o.rule.code, o.rule.slug, o.reason, o.rule.needs)
        for o in outcomes
        if o.status == "not-evaluated"
    )
